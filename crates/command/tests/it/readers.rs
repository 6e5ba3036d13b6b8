//! Two other readers of shell text, as oracles: brush-parser and tree-sitter-bash. It must not know the one that is tested.

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item};
use brush_parser::word::{WordPiece, WordPieceWithSource, parse, parse_heredoc};

/// Takes the quotes off a word the way the shell does.
pub(crate) fn unquoted(word: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '\\') => match chars.next() {
                Some('\n') | None => {}
                Some(c) => text.push(c),
            },
            (Some('"'), '\\') => {
                match chars.next_if(|c| matches!(c, '$' | '`' | '"' | '\\' | '\n')) {
                    Some('\n') => {}
                    Some(c) => text.push(c),
                    None => text.push('\\'),
                }
            }
            (_, c) => text.push(c),
        }
    }
    text
}

/// The programs brush-parser finds, those inside words included. `None` where it cannot read the text.
pub(crate) fn brush(text: &str) -> Option<Vec<String>> {
    let mut found = Found::default();
    found.text(text, 0);
    found.is_whole.then_some(found.programs)
}

struct Found {
    programs: Vec<String>,
    is_whole: bool,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            programs: Vec::new(),
            is_whole: true,
        }
    }
}

impl Found {
    fn text(&mut self, text: &str, depth: usize) {
        let mut parser =
            brush_parser::Parser::builder().build(std::io::Cursor::new(text.as_bytes()));
        let Some(program) = parser.parse_program().ok().filter(|_| depth < 10) else {
            self.is_whole = false;
            return;
        };
        for list in &program.complete_commands {
            self.list(list, depth);
        }
    }

    fn list(&mut self, list: &ast::CompoundList, depth: usize) {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            self.pipeline(&and_or.first, depth);
            for next in &and_or.additional {
                let (ast::AndOr::And(next) | ast::AndOr::Or(next)) = next;
                self.pipeline(next, depth);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, depth: usize) {
        for command in &pipeline.seq {
            self.command(command, depth);
        }
    }

    fn command(&mut self, command: &ast::Command, depth: usize) {
        match command {
            ast::Command::Simple(simple) => {
                let prefix = simple.prefix.iter().flat_map(|it| &it.0);
                let suffix = simple.suffix.iter().flat_map(|it| &it.0);
                prefix.chain(suffix).for_each(|item| self.item(item, depth));
                if let Some(word) = &simple.word_or_name {
                    self.word(&word.value, depth);
                    self.programs.push(unquoted(&word.value));
                }
            }
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound, depth);
                self.redirects(redirects.as_ref(), depth);
            }
            ast::Command::Function(function) => {
                self.compound(&function.body.0, depth);
                self.redirects(function.body.1.as_ref(), depth);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr, depth);
                self.redirects(redirects.as_ref(), depth);
            }
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand, depth: usize) {
        use ast::CompoundCommand as Kind;
        match compound {
            Kind::Arithmetic(it) => self.arithmetic(&it.expr, depth),
            Kind::ArithmeticForClause(it) => {
                let parts = [&it.initializer, &it.condition, &it.updater];
                parts
                    .into_iter()
                    .flatten()
                    .for_each(|expr| self.arithmetic(expr, depth));
                self.list(&it.body.list, depth);
            }
            Kind::BraceGroup(it) => self.list(&it.list, depth),
            Kind::Subshell(it) => self.list(&it.list, depth),
            Kind::ForClause(it) => {
                it.values
                    .iter()
                    .flatten()
                    .for_each(|word| self.word(&word.value, depth));
                self.list(&it.body.list, depth);
            }
            Kind::CaseClause(it) => {
                self.word(&it.value.value, depth);
                for case in &it.cases {
                    case.patterns
                        .iter()
                        .for_each(|word| self.word(&word.value, depth));
                    case.cmd.iter().for_each(|list| self.list(list, depth));
                }
            }
            Kind::IfClause(it) => {
                self.list(&it.condition, depth);
                self.list(&it.then, depth);
                for branch in it.elses.iter().flatten() {
                    branch
                        .condition
                        .iter()
                        .for_each(|list| self.list(list, depth));
                    self.list(&branch.body, depth);
                }
            }
            Kind::WhileClause(it) | Kind::UntilClause(it) => {
                self.list(&it.0, depth);
                self.list(&it.1.list, depth);
            }
            Kind::Coprocess(it) => self.command(&it.body, depth),
        }
    }

    fn test(&mut self, expr: &ast::ExtendedTestExpr, depth: usize) {
        use ast::ExtendedTestExpr as Test;
        match expr {
            Test::And(a, b) | Test::Or(a, b) => {
                self.test(a, depth);
                self.test(b, depth);
            }
            Test::Not(a) | Test::Parenthesized(a) => self.test(a, depth),
            Test::UnaryTest(_, word) => self.word(&word.value, depth),
            Test::BinaryTest(_, a, b) => {
                self.word(&a.value, depth);
                self.word(&b.value, depth);
            }
        }
    }

    fn item(&mut self, item: &Item, depth: usize) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, depth),
            Item::Word(word) | Item::AssignmentWord(_, word) => self.word(&word.value, depth),
            Item::ProcessSubstitution(_, shell) => self.list(&shell.list, depth),
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>, depth: usize) {
        redirects
            .iter()
            .flat_map(|it| &it.0)
            .for_each(|it| self.redirect(it, depth));
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, depth: usize) {
        use ast::IoFileRedirectTarget as Target;
        match redirect {
            ast::IoRedirect::File(_, _, Target::Filename(word) | Target::Duplicate(word))
            | ast::IoRedirect::HereString(_, word)
            | ast::IoRedirect::OutputAndError(word, _) => self.word(&word.value, depth),
            ast::IoRedirect::File(_, _, Target::ProcessSubstitution(_, shell)) => {
                self.list(&shell.list, depth);
            }
            ast::IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                match parse_heredoc(&document.doc.value, &brush_parser::ParserOptions::default()) {
                    Ok(pieces) => self.pieces(&document.doc.value, &pieces, depth),
                    Err(_) => self.is_whole = false,
                }
            }
            ast::IoRedirect::File(_, _, Target::Fd(_)) | ast::IoRedirect::HereDocument(..) => {}
        }
    }

    fn arithmetic(&mut self, expr: &ast::UnexpandedArithmeticExpr, depth: usize) {
        self.word(&expr.value, depth);
    }

    fn word(&mut self, word: &str, depth: usize) {
        if !word.contains(['$', '`', '<', '>']) {
            return;
        }
        match parse(word, &brush_parser::ParserOptions::default()) {
            Ok(pieces) => self.pieces(word, &pieces, depth),
            Err(_) => self.is_whole = false,
        }
    }

    fn pieces(&mut self, source: &str, pieces: &[WordPieceWithSource], depth: usize) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner)
                | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(source, inner, depth);
                }
                WordPiece::CommandSubstitution(text)
                | WordPiece::BackquotedCommandSubstitution(text) => self.text(text, depth + 1),
                WordPiece::ArithmeticExpression(expr) => self.arithmetic(expr, depth + 1),
                WordPiece::ParameterExpansion(_) => {
                    // The operand is text again.
                    let text = source
                        .get(piece.start_index..piece.end_index)
                        .unwrap_or_default();
                    if let Some(inner) = text.strip_prefix("${").and_then(|it| it.strip_suffix('}'))
                    {
                        self.word(inner, depth + 1);
                    }
                }
                WordPiece::Text(_)
                | WordPiece::SingleQuotedText(_)
                | WordPiece::AnsiCQuotedText(_)
                | WordPiece::TildeExpansion(_)
                | WordPiece::EscapeSequence(_) => {}
            }
        }
    }
}

/// The programs tree-sitter-bash finds. `None` where it cannot read the text.
pub(crate) fn tree_sitter(text: &str) -> Option<Vec<String>> {
    let mut parser = tree_sitter::Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let tree = parser.parse(text, None).unwrap();
    if tree.root_node().has_error() {
        return None;
    }
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        let source = &text[node.byte_range()];
        match node.kind() {
            "command_name" => found.push(unquoted(source)),
            "test_command" if source.starts_with("[ ") => found.push("[".to_owned()),
            "declaration_command" | "unset_command" => {
                found.extend(source.split_whitespace().next().map(str::to_owned));
            }
            _ => {}
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    Some(found)
}
