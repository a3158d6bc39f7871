//! Mode `code` without tools: the scripts are fenced blocks in the model's words, and the next message tells what they
//! printed.

use async_trait::async_trait;
use serde_json::json;

use super::RunError;
use super::code_mode::CodeTools;
use super::mode_tools::{Answer, Asked, ModeTools, as_result, calls_in};
use super::prompts::RUN_PYTHON;
use crate::model::types::{Block, ToolDefinition};

/// The words behind a fence that make its block a script.
const LANGUAGES: [&str; 3] = ["python", "py", "python3"];
/// What a model that thinks among its words ends its thoughts with; blocks before it are drafts.
const END_OF_THOUGHT: &str = "</think>";

/// Runs the scripts in a model's words.
pub(super) struct FencedScripts(pub(super) CodeTools);

#[async_trait]
impl ModeTools for FencedScripts {
    fn tools(&self) -> Vec<ToolDefinition> {
        Vec::new()
    }

    /// The blocks of one answer are one script. A model may call a tool that nobody offered, which is answered as in the
    /// other form.
    fn asked(&self, content: &[Block]) -> Vec<Asked> {
        let words = content.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let script = script_in(&words.collect::<Vec<_>>().join("\n"));
        let script = script.map(|code| Asked {
            id: String::new(),
            name: RUN_PYTHON.to_owned(),
            input: json!({ "code": code }),
            script: None,
        });
        calls_in(content).into_iter().chain(script).collect()
    }

    /// What a block printed is said in words; it has no id that a result could name.
    fn results(&self, calls: Vec<Asked>, answers: Vec<Answer>) -> Vec<Block> {
        let result = |(call, answer): (Asked, Answer)| match call.id.is_empty() {
            true => Block::Text { text: answer.text },
            false => as_result((call, answer)),
        };
        calls.into_iter().zip(answers).map(result).collect()
    }

    async fn answer(&self, turn: u32, calls: &[Asked]) -> Result<Vec<Answer>, RunError> {
        self.0.answer(turn, calls).await
    }

    fn scripts_run(&self) -> u32 {
        self.0.scripts_run()
    }
}

/// The Python in a text: its fenced blocks marked as Python, in order, since models write parts of one script as several
/// blocks. A block that has no end reaches to the end of the text. Nothing where there is no block.
fn script_in(text: &str) -> Option<String> {
    let text = text.rsplit_once(END_OF_THOUGHT).map_or(text, |(_, said)| said);
    let mut blocks: Vec<String> = Vec::new();
    let mut open: Option<Fence> = None;
    for line in text.lines() {
        match (&open, Fence::of(line)) {
            (Some(fence), Some(end)) if fence.is_ended_by(&end) => open = None,
            (Some(fence), _) => {
                if let Some(block) = blocks.last_mut().filter(|_| fence.is_python) {
                    block.push_str(fence.without_indent(line));
                    block.push('\n');
                }
            }
            (None, Some(fence)) => {
                if fence.is_python {
                    blocks.push(String::new());
                }
                open = Some(fence);
            }
            (None, None) => {}
        }
    }
    blocks.retain(|block| !block.trim().is_empty());
    (!blocks.is_empty()).then(|| blocks.concat())
}

/// A line of three or more backticks or tildes.
struct Fence {
    letter: char,
    length: usize,
    /// Blanks before it, which its block has, too.
    indent: usize,
    has_words: bool,
    is_python: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let marks = line.trim_start_matches(' ');
        let letter = marks.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
        let words = marks.trim_start_matches(letter);
        let length = marks.len() - words.len();
        let is_python = words
            .trim()
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .next()
            .is_some_and(|word| LANGUAGES.iter().any(|language| language.eq_ignore_ascii_case(word)));
        // What stands on one line is not fenced: ```print(1)```.
        let is_fence = length >= 3 && !(letter == '`' && words.contains('`'));
        let indent = line.len() - marks.len();
        is_fence.then_some(Self { letter, length, indent, has_words: !words.trim().is_empty(), is_python })
    }

    fn is_ended_by(&self, other: &Self) -> bool {
        other.letter == self.letter && other.length >= self.length && !other.has_words
    }

    fn without_indent<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        &line[blanks.min(self.indent)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_in_a_text() {
        let table = [
            ("Words alone.", None),
            ("```python\nprint(1)\n```", Some("print(1)\n")),
            ("So:\n\n```Python title=x\nprint(1)\n```\nDone.", Some("print(1)\n")),
            ("```py\nprint(1)", Some("print(1)\n")),
            ("~~~python3\nprint('```')\n```\n~~~", Some("print('```')\n```\n")),
            ("````python\n```\n````", Some("```\n")),
            ("1. First:\n   ```python\n   if x:\n       y()\n   ```", Some("if x:\n    y()\n")),
            ("```python\na = 1\n```\nand\n```python\nprint(a)\n```", Some("a = 1\nprint(a)\n")),
            ("```python\na = 1\n```\n```text\n1\n```", Some("a = 1\n")),
            ("```json\n{}\n```", None),
            ("```\nprint(1)\n```", None),
            ("```pythonic\nprint(1)\n```", None),
            ("```python```", None),
            ("```python\n\n```", None),
            ("```text\n```python\n```\n```python\nprint(1)\n```", Some("print(1)\n")),
            ("<think>```python\ndraft()\n```</think>\n```python\nprint(1)\n```", Some("print(1)\n")),
            ("", None),
        ];
        for (text, script) in table {
            assert_eq!(script_in(text).as_deref(), script, "{text}");
        }
    }
}
