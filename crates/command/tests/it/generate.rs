//! Shell lines made from a grammar, the same ones for the same seed. It must not name a program that is
//! no stub, a path outside the directory a line runs in, or a descriptor above 3.

/// The programs of the lines: stubs, all of them, `rm` too. A name that begins with `n` fails.
pub(crate) const PROGRAMS: [&str; 12] = [
    "aa", "bb", "cc", "dd", "ee", "nn", "nx", "rm", "git", "make", "ls", "cat",
];

/// The programs that run others and are linked as they are.
pub(crate) const WRAPPERS: [&str; 10] = [
    "bash", "env", "find", "nice", "nohup", "setsid", "sh", "stdbuf", "timeout", "xargs",
];

/// Lines that run a program in a way that is easy to miss. `aa` runs in each; `bb` and `cc` may.
/// `src.sh` lies in the directory and holds `v=aa`.
const TRICKS: &[&str] = &[
    // what a name holds
    "v=aa; $v x",
    "v=bb; v=aa; $v",
    "v=a; v+=a; $v",
    "v=bb; v=aa true; v=aa; $v",
    "v=bb; if cc; then v=aa; fi; $v",
    "v=bb; if nn; then :; else v=aa; fi; $v",
    "v=bb; cc && v=aa; $v",
    "v=bb; nn || v=aa; $v",
    "v=bb; while :; do v=aa; break; done; $v",
    "v=bb; for v in cc aa; do :; done; $v",
    "v=bb; for i in 1; do v=aa; done; $v",
    "v=aa; (v=bb); $v",
    "v=aa; v=bb | :; $v",
    "v=aa; { v=bb; } & wait; $v",
    "v=bb; { v=aa; }; $v",
    "v=bb; case x in x) v=aa ;; esac; $v",
    "v=bb; f() { v=aa; }; f; $v",
    "v=aa; f() { local v=bb; }; f; $v",
    "v=bb; f() { local v=aa; $v; }; f",
    "v=bb; f() { v=aa; $v; }; v=cc; f",
    "v=bb; f() { $v; }; v=aa; f",
    "v=bb; f() { $v; }; v=aa f",
    "v=bb; read v <<< aa; $v",
    "v=bb; read -r v <<EOF\naa\nEOF\n$v",
    "v=bb; while read v; do $v; done <<< aa",
    "v=bb; printf -v v aa; $v",
    "v=bb; printf -v v %s aa; $v",
    "v=bb; mapfile -t v <<< aa; $v",
    "v=bb; readarray -t v <<< aa; ${v[0]}",
    "v=bb; eval v=aa; $v",
    "v=bb; eval 'v=a''a'; $v",
    "v=bb; . ./src.sh; $v",
    "v=bb; source ./src.sh; $v",
    "v=bb; declare v=aa; $v",
    "v=bb; export v=aa; $v",
    "v=bb; readonly v=aa; $v",
    "v=bb; typeset v=aa; $v",
    "v=bb; declare -n r=v; r=aa; $v",
    "v=bb; unset v; ${v:-aa}",
    "v=bb; unset v; ${v}aa",
    "v=; ${v:-aa}",
    "v=x; ${v:+aa}",
    "unset v; : ${v:=aa}; $v",
    "unset v; echo ${v=aa}; $v",
    "v=bb; v=$(echo aa); $v",
    "v=(bb aa); ${v[1]}",
    "v=(aa x); \"${v[@]}\"",
    "v[1]=aa; ${v[1]}",
    "v=bb; v[0]=aa; $v",
    "v=aXa; ${v/X/}",
    "v=aax; ${v%x}",
    "v=xaa; ${v#x}",
    "v=xaa; ${v:1}",
    "v=AA; ${v,,}",
    "v=w; w=aa; ${!v}",
    "declare -l v; v=AA; $v",
    "declare -i n=1; declare -l v=AA; $v",
    "w=a; v=$w$w; $v",
    "v='aa x'; $v",
    "v=' aa '; $v",
    "IFS=,; v=aa,x; $v",
    "IFS=x; v=aax; $v bb",
    "v='aa'; \"$v\" x",
    "v=aa; 'bb'; $v",
    "v=aa; w='$v'; eval $w",
    "v=aa; w='$v'; eval \"$w\"",
    "v='$(aa)'; echo \"${v@P}\"",
    "set -- aa; $1",
    "set -- aa x; \"$@\"",
    "set -- bb aa; shift; $1",
    "f() { \"$@\"; }; f aa",
    "f() { $1 x; }; f aa",
    "f() { shift; \"$@\"; }; f bb aa",
    "f() { set -- aa; $1; }; f bb",
    "for v; do aa; done; set -- x; for v; do aa; done",
    "for v in aa bb; do $v; done",
    "for v in {aa,bb}; do $v; done",
    "for v in \"aa\" 'bb'; do \"$v\"; done",
    "let v=1; v=aa; $v",
    "v=aa; (( v=1 )); v=aa; $v",
    "v=bb; [[ aa =~ (.*) ]]; ${BASH_REMATCH[1]}",
    "v=bb; v=aa || v=cc; $v",
    "v=bb; ! v=aa; $v",
    "v=bb; time v=aa; $v",
    "v=bb; v=aa > o1; $v",
    "v=bb; : $((w=1)) ${v2:=aa}; $v2",
    "getopts a: v -aaa; $OPTARG",
    "v=bb; select v in aa; do break; done <<< 1; $v",
    "coproc v { echo aa; }; read -u ${v[0]} w; $w",
    "v=bb; trap 'v=aa' USR1; kill -USR1 $BASHPID; $v",
    "v=bb; trap 'v=aa' DEBUG; :; $v",
    // code inside values that are arithmetic or subscripts
    "x='a[$(aa)]'; echo $((x))",
    "x='a[$(aa)]'; (( x ))",
    "x='a[$(aa)]'; let x",
    "x='a[$(aa)]'; [[ x -eq 1 ]]",
    "x='a[$(aa)]'; echo ${y[x]}",
    "y=y; x='a[$(aa)]'; echo ${y:x}",
    "x='a[$(aa)]'; for ((i=x; i<0;)); do :; done",
    "declare -i y; x='a[$(aa)]'; y=x",
    "test -v 'a[$(aa)]'",
    "[[ -v a[$(aa)] ]]",
    "printf -v 'a[$(aa)]' x",
    "read 'a[$(aa)]' <<< x",
    "a=(); unset 'a[$(aa)]'",
    "declare 'a[$(aa)]=1'",
    "a[$(aa)]=1",
    "a=([$(aa)]=1)",
    "echo $(( a[$(aa)] ))",
    "echo ${a[$(aa)]}",
    "let 'a[$(aa)]=1'",
    // places of substitutions
    "echo ${v:-$(aa)}",
    "echo \"${v:-\"$(aa)\"}\"",
    "echo \"${v:-'$(aa)'}\"",
    "v=x; echo ${v/x/$(aa)}",
    "v=x; echo ${v:$(aa)0}",
    "v=x; echo ${v#$(aa)}",
    "echo $'a\\'' $(aa) '\\'",
    "echo $(echo $(echo `aa`))",
    "echo `echo \\`aa\\``",
    "echo \"`echo \\\"$(aa)\\\"`\"",
    "echo $[ $(aa) + 1 ]",
    "case $(aa) in *) ;; esac",
    "case x in $(aa)) ;; *) ;; esac",
    "case \"$(case y in y) aa;; esac)\" in *) ;; esac",
    "for i in $(aa); do :; done",
    "for ((i=$(aa)0; i<1; i++)); do :; done",
    "[[ x = $(aa) ]]",
    "[[ -z $(bb) && x =~ $(aa) ]]",
    ": < <(aa)",
    ": > >(aa)",
    "echo <(aa) > o1",
    "v=<(aa)",
    "v=(x <(aa))",
    ": > \"$(aa)o1\"",
    ": <<< \"$(aa)\"",
    ": <<E\n$(aa)\nE",
    ": <<E\n`aa`\nE",
    ": <<E\n${v:-$(aa)}\nE",
    ": <<E\n\\\\$(aa)\nE",
    ": <<E\n$((1 + $(aa)1))\nE",
    ": <<-E\n\t$(aa)\n\tE",
    ": <<'E' ; aa\n$(bb)\nE",
    ": <<A <<B; aa\nx\nA\ny\nB",
    ": <<A; : <<B\nx\nA\n$(aa)\nB",
    "echo $(: <<E\nx\nE\naa)",
    ": <<E\nx\nE\naa",
    ": <<E\nE x\n E\nE\naa",
    ": <<E\\\nF\n$(aa)\nEF",
    ": <<\"E\"\n$(bb)\nE\naa",
    "f() { : <<E; }\n$(aa)\nE\nf",
    // texts that are read again
    "eval aa",
    "eval 'a''a'",
    "eval eval aa",
    "eval \"eval 'aa'\"",
    "eval 'v=aa' '; $v'",
    "eval $'aa\\nbb'",
    "sh -c aa",
    "bash -c 'aa; bb'",
    "bash -c '$0' aa",
    "bash -c '\"$@\"' x aa",
    "sh -c \"sh -c 'aa'\"",
    "bash <<< aa",
    "sh <<'E'\naa\nE",
    "bash <<E\naa\nE",
    "echo aa | sh",
    "printf '%s\\n' aa | bash",
    "bash <(echo aa)",
    "bash /dev/stdin <<< aa",
    ". /dev/stdin <<< aa",
    ". <(echo aa)",
    "source /dev/fd/0 <<< aa",
    "bash -s <<< aa",
    "bash -c -- aa",
    "bash +x -c aa",
    "bash -o posix -c aa",
    "bash --norc -c aa",
    "bash -ec aa",
    "bash -c -e aa",
    "BASH_ENV=<(echo aa) bash -c :",
    "BASH_ENV='$(aa)' bash -c :",
    "env 'BASH_FUNC_bb%%=() { aa; }' bash -c bb",
    "export -f f; f() { aa; }; export -f f; bash -c f",
    "trap aa EXIT",
    "trap 'aa; bb' EXIT; :",
    "trap -- aa 0",
    "trap aa DEBUG; :",
    "trap aa ERR; nn",
    "f() { trap aa RETURN; }; f",
    "trap aa USR1; kill -USR1 $BASHPID",
    "v=aa; trap '$v' EXIT; v=aa",
    "PS4='$(aa)'; set -x; :",
    "mapfile -C aa -c 1 v <<< x",
    "mapfile -C 'aa;' -c1 <<< x",
    "complete -C aa x; compgen -C aa",
    "compgen -W '$(aa)'",
    "command_not_found_handle() { aa; }; nope",
    // names that are not what they seem
    "shopt -s expand_aliases\nalias zz='aa'\nzz",
    "shopt -s expand_aliases\nalias bb='aa'\nbb",
    "shopt -s expand_aliases\nalias zz='bb;'\nzz aa",
    "shopt -s expand_aliases\nalias zz='echo ' yy='x; aa'\nzz yy",
    "f() { aa; }; f",
    "f() { g; }; g() { aa; }; f",
    "echo() { aa; }; echo x",
    "cd() { aa; }; cd sub",
    "function f { aa; }; f",
    "f() (aa); f",
    "f() if :; then aa; fi; f",
    "f() { :; } > \"$(aa)o1\"; f",
    "f() { f2() { aa; }; }; f; f2",
    "f() { aa; }; g=f; $g",
    "f() { aa; }; unset v; f ${v:-x}",
    "f() { aa; }; eval f",
    "f() { aa; }; command f; f",
    "f() { aa; }; (f)",
    "f() { aa; }; v=$(f)",
    "f() { aa; }; trap f EXIT",
    "unset -f f; f() { bb; }; f() { aa; }; f",
    "bb() { aa; }; bb",
    "bb() { command bb; aa; }; bb",
    "hash -p \"$PATH/aa\" bb; bb",
    "\"$PATH/aa\"",
    "$PATH/aa x",
    "v=$PATH; \"$v\"/aa",
    "cd \"$PATH\"; ./aa",
    "cd $PATH && ./aa && cd ./ && $PWD/aa",
    "PATH=$PATH:. aa",
    "enable -n echo; echo() { aa; }; echo",
    "builtin eval aa",
    "command eval aa",
    "builtin command aa",
    "command builtin eval 'aa'",
    "command -- aa",
    "(exec aa)",
    "(exec -a bb aa)",
    "exec aa",
    "exec -c aa",
    "exec -l aa",
    "exec > o1; aa",
    "{aa,bb}",
    "a{a,b}",
    "{,aa}",
    "{a,}a x",
    "a\\\na",
    "'a'\"a\"",
    "$'\\x61\\141'",
    "$'a\\u0061'",
    "$\"aa\"",
    "[a]a; aa",
    // who runs it
    "env aa",
    "env -i \"PATH=$PATH\" aa",
    "env -u X Y=1 aa",
    "env -S 'aa x'",
    "env -S 'Y=1 aa'",
    "env -vS'aa x'",
    "env --split-string='aa' x",
    "env -C sub aa",
    "env -- aa",
    "env env env aa",
    "nohup aa",
    "nice -n 1 aa",
    "nice -1 aa",
    "nice --adjustment=1 aa",
    "timeout 5 aa",
    "timeout -s KILL 5 aa",
    "timeout --kill-after=1 5s aa",
    "setsid -w aa",
    "stdbuf -oL aa",
    "stdbuf --output=0 -i 0 aa",
    "xargs aa",
    "xargs -n 1 aa <<< x",
    "xargs -I{} aa {} <<< x",
    "xargs -I x env x <<< aa",
    "xargs <<< x aa",
    "xargs env <<< aa",
    "xargs sh -c <<< aa",
    "xargs -n1 -- aa <<< 'x y'",
    "find . -maxdepth 0 -exec aa {} \\;",
    "find . -maxdepth 0 -exec aa {} +",
    "find . -maxdepth 0 -exec sh -c 'aa' \\;",
    "find . -maxdepth 0 -exec sh -c 'aa \"$1\"' _ {} \\;",
    "find . -maxdepth 0 -execdir aa \\;",
    "find . -maxdepth 0 ! -exec nn \\; -exec aa \\;",
    "find sub -maxdepth 0 -name sub -exec env aa ';'",
    "time aa",
    "time -p aa",
    "! aa",
    "coproc aa; wait",
    "coproc N { aa; }; wait",
    "aa & wait",
    "aa |& bb",
    "nn || aa",
    "bb && aa",
    "time ! aa",
    "X=1 Y=2 aa",
    "X=$(aa)",
    "X=$(aa) bb",
    "X=1 > o1 aa < o1",
    "> o1 2>&1 aa",
    "2>&1 aa",
    "bb # x\naa",
    "bb #\\\naa",
    "echo x#y; aa",
    "echo '#'; aa # bb",
    "bb\\\n;aa",
    "bb;\taa",
    "if nn; then bb; elif cc; then aa; fi",
    "until aa; do :; done",
    "while aa; do break; done",
    "case x in y) bb ;; x) aa ;; esac",
    "case x in x) bb ;& y) aa ;; esac",
    "case x in x) bb ;;& *) aa ;; esac",
    "case in in in) aa ;; esac",
    "for in in in; do aa; done",
    "for i in 1\ndo\naa\ndone",
    "for ((;;)); do aa; break; done",
    "for ((i=0;i<1;i++)) { aa; }",
    "select i in x; do aa; break; done <<< 1",
    "((0)) || aa",
    "((1<<2)) && aa",
    "(( 1 )); aa",
    "((echo x); aa)",
    "( (aa) )",
    "{ { aa; } }; { { aa; }; }",
    "[[ a && ( b || c ) ]] && aa",
    "[[ a < b ]] && aa",
    "[[ a &&\nb ]] && aa",
    "[ a ] && aa",
    "test a && aa",
    "shopt -s extglob\necho !(aa|bb); aa",
    "shopt -s extglob\ncase x in @(x|y)) aa ;; esac",
];

/// Numbers that look like chance and are always the same.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (end as u64)).unwrap()
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// Whether one of `count` equal chances came true.
    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// The lines: each trick once, then as many more as are wanted.
pub(crate) fn lines(seed: u64, count: usize) -> Vec<String> {
    let tricks = TRICKS.iter().map(|&trick| trick.to_owned());
    let mut maker = Maker {
        chance: Chance::new(seed),
        name_count: 0,
    };
    let made = std::iter::repeat_with(|| maker.line());
    tricks.chain(made).take(count).collect()
}

struct Maker {
    chance: Chance,
    name_count: usize,
}

impl Maker {
    fn line(&mut self) -> String {
        self.name_count = 0;
        if self.chance.one_in(6) {
            let first = self.chance.pick(TRICKS);
            let second = self.list(1);
            // A here-document needs the line to itself.
            return match self.chance.below(4) {
                0 => format!("{second}\n{first}"),
                1 => format!("{{ {first}\n}}\n{second}"),
                2 => format!("({first}\n) && {second}"),
                _ => format!("{first}\n{second}"),
            };
        }
        let depth = 1 + self.chance.below(8) / 7;
        self.list(depth)
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.statement(depth);
        for _ in 0..self.chance.below(3) / 2 {
            let joiner = self.chance.pick(&[
                "; ",
                " && ",
                " || ",
                " | ",
                " |& ",
                "\n",
                " & wait; ",
                "&&",
                "|",
                ";",
                " # x\n",
                " &&\n",
                " |\n\n",
                " \\\n; ",
            ]);
            let next = self.statement(depth);
            // Neither may stand inside a pipe.
            let is_first = next.starts_with("! ") || next.starts_with("time ");
            let joiner = if is_first && joiner.contains('|') {
                "\n"
            } else {
                joiner
            };
            text = format!("{text}{joiner}{next}");
        }
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance.one_in(3) {
            return self.simple(depth);
        }
        let depth = depth - 1;
        match self.chance.below(22) {
            0 => format!("({})", self.list(depth)),
            1 => format!("{{ {}\n}}", self.list(depth)),
            2 => format!("if {}\nthen {}\nfi", self.list(depth), self.list(depth)),
            3 => format!(
                "if {}\nthen {}\nelse {}\nfi",
                self.simple(depth),
                self.list(depth),
                self.list(depth)
            ),
            4 => format!(
                "while {}\ndo {}\nbreak; done",
                self.simple(depth),
                self.list(depth)
            ),
            5 => format!(
                "for i in {} {}; do {}\ndone",
                self.word(depth),
                self.word(0),
                self.list(depth)
            ),
            6 => format!(
                "for v in {} {}; do $v {}; done",
                self.program(),
                self.program(),
                self.word(depth)
            ),
            7 => format!(
                "case {} in q) {} ;; *) {}\n;; esac",
                self.word(depth),
                self.simple(depth),
                self.list(depth)
            ),
            8 => {
                let name = self.fresh("f");
                format!(
                    "{name}() {{ {}\n}}; {name} {}",
                    self.list(depth),
                    self.word(depth)
                )
            }
            9 => {
                let name = self.fresh("g");
                format!("{name}() {{ \"$@\"; }}; {name} {}", self.simple(depth))
            }
            10 => format!(
                "[[ {} == {} ]] && {}",
                self.word(depth),
                self.word(0),
                self.simple(depth)
            ),
            11 => format!("(( {} )) || {}", self.number(depth), self.simple(depth)),
            12 => format!("! {}", self.simple(depth)),
            13 => format!("time {}", self.statement(depth)),
            14 => self.text(depth),
            15 => {
                let text = self.list(depth);
                let runner = self.chance.pick(&["eval", "sh -c", "bash -c", "bash -ec"]);
                format!("{runner} {}", single_quoted(&text))
            }
            16 => format!("v={}; $v {}", self.program(), self.word(depth)),
            17 => format!("v=$({}); {}", self.list(depth), self.simple(depth)),
            18 => format!(
                "a=({} $({})); {}",
                self.word(depth),
                self.list(depth),
                self.simple(0)
            ),
            19 => format!(
                "(trap {} EXIT; {})",
                single_quoted(&self.simple(depth)),
                self.simple(depth)
            ),
            20 => format!("{{ {}\n}} {}", self.list(depth), self.redirect(depth)),
            _ => format!("export v=$({})", self.simple(depth)),
        }
    }

    /// A name that is not in the line yet: a function that calls its own name has no end, and nor has a
    /// here-document in one with the same.
    fn fresh(&mut self, letter: &str) -> String {
        self.name_count += 1;
        format!("{letter}{}", self.name_count)
    }

    /// A here-document, in a group that closes its line.
    fn text(&mut self, depth: usize) -> String {
        let end = self.fresh("E");
        let body = match self.chance.below(4) {
            0 => format!("$({})", self.list(depth)),
            1 => format!("x ${{v:-$({})}} 'y'", self.simple(depth)),
            2 => format!("\\$(nope) \"$({})\"", self.simple(depth)),
            _ => "plain ' text".to_owned(),
        };
        let program = self.spelled();
        match self.chance.below(4) {
            0 => format!("{{ {program} <<'{end}'\n$(nope) `nope` '\n{end}\n}}"),
            1 => format!("{{ {program} <<-{end}\n\t{body}\n\t{end}\n}}"),
            2 => format!(
                "{{ {program} <<{end} | {}\n{body}\n{end}\n}}",
                self.simple(0)
            ),
            _ => format!("{{ {program} <<{end}\n{body}\n{end}\n}}"),
        }
    }

    fn program(&mut self) -> &'static str {
        self.chance.pick(&PROGRAMS)
    }

    /// A program, in one of the ways to write its name.
    fn spelled(&mut self) -> String {
        let name = self.program();
        let (first, rest) = name.split_at(1);
        match self.chance.below(16) {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("{first}''{rest}"),
            3 => format!("\\{name}"),
            4 => format!("{first}\\\n{rest}"),
            5 => format!("$'{name}'"),
            6 => format!("$'\\x{:x}'{rest}", name.as_bytes()[0]),
            7 => format!("{first}\"{rest}\""),
            8 if self.chance.one_in(8) => format!("$(echo {name})"),
            9 if self.chance.one_in(8) => format!("${{unset:-{name}}}"),
            _ => name.to_owned(),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut words = Vec::new();
        if self.chance.one_in(6) {
            words.push(format!("X={}", self.word(depth)));
        }
        if self.chance.one_in(12) {
            words.push(self.redirect(depth));
        }
        if self.chance.one_in(4) {
            words.push(
                self.chance
                    .pick(&[
                        "env",
                        "env Y=1",
                        "env -u Y",
                        "nohup",
                        "nice -n 1",
                        "timeout 9",
                        "command",
                        "command --",
                        "builtin command",
                        "eval",
                        "xargs",
                        "xargs -n 2",
                        "stdbuf -o0",
                        "find . -maxdepth 0 -exec",
                    ])
                    .to_owned(),
            );
        }
        words.push(self.spelled());
        for _ in 0..self.chance.below(3) {
            words.push(self.word(depth));
        }
        if words.iter().any(|word| word.starts_with("find")) {
            words.push("\\;".to_owned());
        }
        if self.chance.one_in(5) {
            words.push(self.redirect(depth));
        }
        words.join(" ")
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 || !self.chance.one_in(4) {
            let word = if self.chance.one_in(6) {
                self.chance.pick(&[
                    "$v", "\"$v\"", "${v:-d}", "*.c", "[x]", "$((1+2))", "$#", "\"$@\"",
                ])
            } else {
                self.chance.pick(&[
                    "x",
                    "-x",
                    "--long=v",
                    "'a;b'",
                    "\"a|b\"",
                    "a\\;b",
                    "'$(nope)'",
                    "\"\\$(nope)\"",
                    "\\`nope\\`",
                    "{p,q}",
                    "a#b",
                    "~",
                    "$'t\\'(\\n'",
                    "\"'\"",
                    "'\"'",
                    "é",
                    "=",
                    "a=b",
                    "\"two words\"",
                    "''",
                    "l1\\\nl2",
                    "'l1\nl2'",
                ])
            };
            return word.to_owned();
        }
        let depth = depth - 1;
        match self.chance.below(9) {
            0 => format!("$({})", self.list(depth)),
            1 => format!("\"a $({}) b\"", self.list(depth)),
            2 => format!("`{} x`", self.program()),
            3 => format!("\"`{}`\"", self.program()),
            4 => format!("${{unset:-$({})}}", self.simple(depth)),
            5 => format!("$(( {} ))", self.number(depth)),
            6 => format!("<({})", self.list(depth)),
            7 => format!("x$({})y", self.simple(depth)),
            _ => format!(
                "\"${{unset:-{}}}\"",
                self.word(0).replace(['"', '\'', '\\', '`'], "")
            ),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.chance.below(6) {
            0 => format!("1 + $({})0", self.simple(depth)),
            1 => format!("n[$({})0] > 0", self.simple(depth)),
            _ => "1 << 2".to_owned(),
        }
    }

    fn redirect(&mut self, depth: usize) -> String {
        if depth > 0 && self.chance.one_in(4) {
            let text = self.list(depth - 1);
            return match self.chance.below(3) {
                0 => format!("<<< \"$({text})\""),
                1 => format!("< <({text})"),
                _ => format!("> >({text})"),
            };
        }
        self.chance
            .pick(&[
                "> o1",
                ">o2",
                ">> 'o3'",
                "2> o4",
                "2>&1",
                "< src.sh",
                "2>/dev/null",
                "&> o5",
                ">| o6",
                "<<< x",
                "<<< 'y z'",
                "3>&1",
                "3<> o7",
                "> o1 2>o2",
            ])
            .to_owned()
    }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
