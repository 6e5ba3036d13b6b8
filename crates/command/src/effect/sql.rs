//! What a text for a database may do outside the data it keeps. It must not guess: what is not on a list may do anything.

use super::language::Verdict;

/// What a statement may begin with.
const HEADS: &[&str] = &[
    "alter",
    "analyze",
    "begin",
    "commit",
    "create",
    "delete",
    "desc",
    "describe",
    "drop",
    "end",
    "explain",
    "insert",
    "pragma",
    "release",
    "replace",
    "rollback",
    "savepoint",
    "select",
    "show",
    "start",
    "truncate",
    "update",
    "use",
    "values",
    "with",
];

/// What may stand before a parenthesis: functions that only compute, and words that are no function.
const CALLS: &[&str] = &[
    "abs",
    "all",
    "and",
    "any",
    "array_agg",
    "as",
    "autoincrement",
    "avg",
    "between",
    "bigint",
    "by",
    "cast",
    "ceil",
    "char",
    "char_length",
    "check",
    "coalesce",
    "concat",
    "count",
    "date",
    "date_trunc",
    "datetime",
    "decimal",
    "default",
    "distinct",
    "else",
    "except",
    "exists",
    "extract",
    "filter",
    "float",
    "floor",
    "foreign",
    "from",
    "glob",
    "greatest",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "in",
    "instr",
    "int",
    "integer",
    "intersect",
    "is",
    "json",
    "json_agg",
    "json_extract",
    "julianday",
    "key",
    "lag",
    "lead",
    "least",
    "left",
    "length",
    "like",
    "limit",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "not",
    "now",
    "nullif",
    "numeric",
    "on",
    "or",
    "over",
    "partition",
    "position",
    "primary",
    "printf",
    "quote",
    "random",
    "rank",
    "replace",
    "returning",
    "right",
    "round",
    "row_number",
    "rtrim",
    "select",
    "sqlite_version",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "then",
    "time",
    "total",
    "trim",
    "typeof",
    "unicode",
    "union",
    "unique",
    "upper",
    "using",
    "values",
    "varchar",
    "version",
    "when",
    "where",
];

/// Words that are no part of any statement that stays inside the database.
const GRAVE: &[&str] = &["dumpfile", "infile", "outfile", "program"];

/// What may be made.
const MADE: &[&str] = &[
    "database", "index", "schema", "sequence", "table", "type", "view",
];

/// What may stand between `create` and what is made.
const MADE_HOW: &[&str] = &[
    "materialized",
    "or",
    "replace",
    "temp",
    "temporary",
    "unique",
];

/// What may be asked about the database itself.
const PRAGMAS: &[&str] = &[
    "database_list",
    "foreign_key_list",
    "index_info",
    "index_list",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Commands of the programs that only show.
const SHOWS: &[&str] = &[
    ".databases",
    ".dump",
    ".exit",
    ".headers",
    ".help",
    ".indexes",
    ".indices",
    ".mode",
    ".quit",
    ".schema",
    ".show",
    ".tables",
    ".width",
    "\\conninfo",
    "\\l",
    "\\l+",
    "\\timing",
    "\\x",
];

/// Statements for a database.
pub(super) fn sql(text: &str) -> Verdict {
    let nothing = Verdict::Files {
        read: Vec::new(),
        written: Vec::new(),
    };
    let trimmed = text.trim();
    if trimmed.starts_with(['.', '\\']) {
        let name = trimmed.split_ascii_whitespace().next().unwrap_or_default();
        let is_listing = name.strip_prefix("\\d").is_some_and(|rest| {
            rest.bytes()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'S' | b'+'))
        });
        let is_plain = trimmed
            .chars()
            .skip(1)
            .all(|c| c.is_ascii_alphanumeric() || " _.*+%".contains(c));
        let shows = is_plain && (SHOWS.contains(&name) || is_listing);
        return if shows { nothing } else { Verdict::Runs };
    }
    match tokens(text) {
        Some(tokens) if tokens.split(|it| it == ";").all(is_plain) => nothing,
        _ => Verdict::Runs,
    }
}

/// Whether a statement destroys, or a command of another database does.
pub(super) fn destroys(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "delete",
        "deletemany",
        "deleteone",
        "drop",
        "dropdatabase",
        "flushall",
        "flushdb",
        "remove",
        "replace",
        "truncate",
        "unlink",
        "update",
    ];
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| WORDS.contains(&word))
}

/// Whether a command of Redis only reads or sets what it keeps.
pub(super) fn is_plain_redis(command: &str) -> bool {
    const COMMANDS: &[&str] = &[
        "append",
        "dbsize",
        "decr",
        "exists",
        "expire",
        "get",
        "hget",
        "hgetall",
        "hkeys",
        "hlen",
        "hset",
        "incr",
        "info",
        "keys",
        "lindex",
        "llen",
        "lpush",
        "lrange",
        "mget",
        "ping",
        "pttl",
        "rpush",
        "sadd",
        "scan",
        "scard",
        "set",
        "sismember",
        "smembers",
        "strlen",
        "time",
        "ttl",
        "type",
        "xlen",
        "xrange",
        "zadd",
        "zcard",
        "zrange",
        "zscore",
    ];
    COMMANDS.contains(&command.to_ascii_lowercase().as_str())
}

/// The words and signs of the text, lower case; what stands in quotes is `'`, and a line end `\n`. `None`
/// where it is not understood.
fn tokens(text: &str) -> Option<Vec<String>> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A comment may be code, a dollar may be a quote, and a backslash a command.
            '\\' | '$' | '#' => return None,
            '/' if chars.peek() == Some(&'*') => return None,
            '-' if chars.peek() == Some(&'-') => {
                // Without a blank behind it not every database takes it for a comment.
                chars.next();
                chars.next_if(|c| c.is_whitespace())?;
                chars.by_ref().find(|c| *c == '\n');
                tokens.push("\n".to_owned());
            }
            '\'' | '"' | '`' => {
                // A backslash may or may not take the quote's meaning away.
                loop {
                    match chars.next()? {
                        '\\' => return None,
                        end if end == c => break,
                        _ => {}
                    }
                }
                tokens.push(if c == '\'' { "'" } else { "\"" }.to_owned());
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut word: String = c.to_lowercase().collect();
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.extend(c.to_lowercase());
                }
                tokens.push(word);
            }
            '\n' => tokens.push("\n".to_owned()),
            c if c.is_whitespace() => {}
            c if c.is_ascii() => tokens.push(c.to_string()),
            _ => return None,
        }
    }
    Some(tokens)
}

/// Whether one statement stays inside the database.
fn is_plain(statement: &[String]) -> bool {
    // A line may begin with a command of the program.
    let begins = |word: &str| matches!(word, "system" | "source" | "tee" | "pager" | "edit" | ".");
    let lines = statement.split(|it| it == "\n");
    if lines
        .filter_map(|line| line.first())
        .any(|word| begins(word))
    {
        return false;
    }
    let words: Vec<&str> = statement
        .iter()
        .map(String::as_str)
        .filter(|it| *it != "\n")
        .collect();
    let Some((head, rest)) = words.split_first() else {
        return true;
    };
    let is_made = || {
        let mut rest = rest.iter().skip_while(|word| MADE_HOW.contains(word));
        rest.next().is_some_and(|word| MADE.contains(word))
    };
    let is_meant = match *head {
        "create" => is_made(),
        "pragma" => matches!(rest, [name] | [name, "(", _, ")"] if PRAGMAS.contains(name)),
        head => HEADS.contains(&head),
    };
    if !is_meant || words.iter().any(|word| GRAVE.contains(word)) {
        return false;
    }
    let is_name = |before: &[&str], word: &str| {
        let names = |it: &str| matches!(it, "into" | "table" | "exists" | "references" | "index");
        // `t (a, b)` behind one of these is a table and its columns, and no call.
        let is_named = before.last().is_some_and(|it| names(it));
        let is_on = *head == "create" && before.last() == Some(&"on");
        is_named || is_on || "(,=<>+-*/%|!".contains(word)
    };
    words.windows(2).enumerate().all(|(at, pair)| {
        let [word, "("] = pair else {
            return true;
        };
        *head == "pragma"
            || CALLS.contains(word)
            || is_name(words.get(..at).unwrap_or_default(), word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_stays_inside_the_database_only_where_every_call_is_known() {
        for text in [
            "SELECT 1",
            "select count(*) from users where name in ('a', 'b');",
            "SELECT * FROM t WHERE note = 'readfile(x)'",
            "INSERT INTO t (a, b) VALUES (1, 'it''s')",
            "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)",
            "CREATE INDEX i ON t (a, b); SELECT 1",
            "PRAGMA table_info(users)",
            "explain select * from a join b on a.id = b.id",
            "DROP TABLE x",
            "-- look\nSELECT 1",
            ".tables",
            ".schema users",
            "\\dt",
            "\\d+ users",
            "",
        ] {
            assert_ne!(sql(text), Verdict::Runs, "{text}");
        }
        for text in [
            "SELECT readfile('.env')",
            "SELECT/**/readfile('.env')",
            "SELECT readfile ('.env')",
            "SELECT \"readfile\"('.env')",
            "SELECT [readfile]('.env')",
            "SELECT 1 FROM a JOIN b ON readfile('.env')",
            "SELECT writefile('x', 'y')",
            "INSERT INTO t VALUES (readfile('.env'))",
            "SELECT * FROM fsdir('.')",
            "SELECT load_extension('./x')",
            "ATTACH 'x.db' AS x",
            "VACUUM INTO 'x'",
            "COPY t FROM PROGRAM 'id'",
            "COPY t TO '/tmp/x'",
            "SELECT pg_read_file('x')",
            "SELECT * INTO OUTFILE '/tmp/x' FROM t",
            "SELECT load_file('/etc/passwd')",
            "CREATE VIRTUAL TABLE t USING csv(filename='.env')",
            "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'x'",
            "CREATE EXTENSION plpython3u",
            "DO $$ begin end $$",
            "SELECT 1--load_file('x')",
            "SELECT 1; \\! id",
            "select 1\nsystem id",
            "system id",
            "source x.sql",
            ".read .env",
            ".shell id",
            ".import x t",
            ".once '|id'",
            "SELECT 1;\n.read .env",
            "PRAGMA temp_store_directory = 'x'",
            "SELECT 'a\\'b'",
            "SELECT 'unfinished",
            "db.users.find()",
            "\\copy t to 'x'",
            "\\g |id",
        ] {
            assert_eq!(sql(text), Verdict::Runs, "{text}");
        }
    }

    #[test]
    fn a_statement_that_destroys_is_found() {
        assert!(!destroys("SELECT 1 FROM dropped"));
        assert!(destroys("drop TABLE x"));
        assert!(destroys("FLUSHALL"));
        assert!(destroys("db.dropDatabase()"));
    }
}
