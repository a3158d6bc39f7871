//! Draws the problems of a manifest with the lines they are about, as the compiler draws its own.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};

use super::Problem;

/// Problems that are drawn; a file of ten thousand wrong rules is mended one rule at a time.
pub(super) const DRAWN: usize = 20;

/// A manifest and what is wrong with it.
pub(super) struct Excerpts<'a> {
    /// The manifest's path, as people read it.
    pub(super) path: &'a str,
    /// Its text.
    pub(super) text: &'a str,
    /// Its problems, in the order of the text.
    pub(super) problems: &'a [Problem],
}

impl Excerpts<'_> {
    /// All problems, for what stands behind `error: `: the first one begins without it.
    pub(super) fn draw(&self, is_coloured: bool) -> String {
        let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
        let mut drawings: Vec<String> = self
            .problems
            .iter()
            .take(DRAWN)
            .enumerate()
            .map(|(index, problem)| renderer.render(&[self.group(problem, index == 0)]))
            .collect();
        if let [_, _, ..] = self.problems {
            let title = match self.problems.len() {
                count if count <= DRAWN => format!("{} has {count} problems", self.path),
                _ => format!("{} has more than {DRAWN} problems; these are the first", self.path),
            };
            drawings.push(renderer.render(&[Group::with_title(Level::ERROR.primary_title(title))]));
        }
        // The renderer shows control characters of ASCII as pictures and leaves the others, which terminals obey, too.
        drawings.join("\n\n").replace(|letter| ('\u{80}'..='\u{9f}').contains(&letter), "·")
    }

    fn group<'a>(&'a self, problem: &'a Problem, is_first: bool) -> Group<'a> {
        let level = if is_first { Level::ERROR.no_name() } else { Level::ERROR };
        let (number, line, start) = self.line(problem.span.start);
        // A mark ends with its line: the first line of a long text is where one looks.
        let inside = |at: usize| line.floor_char_boundary(at.saturating_sub(start));
        let (from, to) = (inside(problem.span.start), inside(problem.span.end));
        let mark = AnnotationKind::Primary.span(from..to.max(from));
        let excerpt = Snippet::source(line).path(self.path).line_start(number).annotation(mark);
        let group = level.primary_title(&problem.message).element(excerpt);
        match &problem.help {
            Some(help) => group.element(Level::HELP.message(normalize_untrusted_str(help))),
            None => group,
        }
    }

    /// The line that holds byte `at`: its number from 1, its text without the line feed, and where it starts.
    fn line(&self, at: usize) -> (usize, &str, usize) {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let start = before.rfind('\n').map_or(0, |feed| feed + 1);
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line, start)
    }
}
