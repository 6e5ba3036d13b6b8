//! Reads the rest of `$'...'`. It must not read any other quote.

use super::cursor::Parser;

impl Parser<'_> {
    /// Reads up to the closing quote and returns the text with its escapes replaced. What is no text, or
    /// ends the text early, is not understood.
    pub(super) fn escaped_string(&mut self, start: usize) -> String {
        let mut text = String::new();
        loop {
            let at = self.pos;
            match self.raw() {
                None => {
                    self.unknown(start..self.end, "an unterminated quote");
                    return text;
                }
                Some(b'\'') => return text,
                Some(b'\\') => {
                    if let Some(c) = self.escape() {
                        text.push_str(&c);
                    } else {
                        let range = self.since(at);
                        self.unknown(range, "an escape that is not understood");
                    }
                }
                Some(_) => text.push_str(self.text.get(at..self.pos).unwrap_or_default()),
            }
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Option<String> {
        let at = self.pos;
        let code = match self.raw()? {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'v' => 11,
            b'\\' => 92,
            b'\'' => 39,
            b'"' => 34,
            b'?' => 63,
            b'x' => self.number(2, 16).filter(|&code| code < 0x80)?,
            b'u' => self.number(4, 16)?,
            b'U' => self.number(8, 16)?,
            b'c' => {
                self.raw();
                return None;
            }
            b'0'..=b'7' => {
                self.pos = at;
                self.number(3, 8).filter(|&code| code < 0x80)?
            }
            _ => {
                // It stands as it is written.
                let source = self.text.get(at..self.pos).unwrap_or_default();
                return Some(format!("\\{source}"));
            }
        };
        // A byte of zero ends the text.
        char::from_u32(code)
            .filter(|&c| c != '\0')
            .map(String::from)
    }

    /// Reads at most `count` digits.
    fn number(&mut self, count: usize, radix: u32) -> Option<u32> {
        let mut number = None;
        for _ in 0..count {
            let Some(digit) = self
                .byte(self.pos)
                .and_then(|b| char::from(b).to_digit(radix))
            else {
                break;
            };
            number = Some(number.unwrap_or(0_u32).checked_mul(radix)? + digit);
            self.raw();
        }
        number
    }
}
