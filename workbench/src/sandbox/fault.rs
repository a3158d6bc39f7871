//! What ended a script, read back from the text of its outcome: for people, who look for the one line that says so.

use plugin_api::wire::ToolSpec;

use super::stubs::python_name;
use crate::nearest::question;

/// Characters of an exception's text that are kept: it may hold anything, a whole record as well.
const LONGEST: usize = 400;

/// What ended a script that did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFault {
    /// How it ended, to stand behind `the script`: `ended in NameError: …`, `was killed after 8 s: …`.
    pub words: String,
    /// Line of the script, from 1, where an exception says one.
    pub line: Option<usize>,
    /// Something that it called and that there was not.
    missing: Option<String>,
    /// What it called with arguments that it does not take.
    misused: Option<String>,
}

impl ScriptFault {
    /// That of a script which tracebacks call `file`, from the [reply](super::ScriptOutcome::reply) a model gets; nothing when
    /// the script ended well.
    pub fn of(reply: &str, file: &str) -> Option<Self> {
        let (headline, output) = reply.split_once('\n').unwrap_or((reply, ""));
        let Some(code) = headline.strip_prefix("EXIT CODE ") else {
            return Some(Self::without_a_word(stopped(headline)?));
        };
        code.parse::<i32>().ok()?;
        let Some((exception, line)) = exception(output, file) else {
            let last = output.lines().map(str::trim).rfind(|line| !line.is_empty() && *line != "(no output)");
            let last = last.map(|line| format!(": {}", cut(line))).unwrap_or_default();
            return Some(Self::without_a_word(format!("ended with exit code {code}{last}")));
        };
        let is_called = |name: &&str| output.contains(&format!("{name}("));
        Some(Self {
            words: format!("ended in {}", cut(exception)),
            line: Some(line),
            missing: missing_name(exception).filter(is_called).map(str::to_owned),
            misused: exception.strip_prefix("TypeError: ").and_then(|text| Some(text.split_once("() ")?.0.to_owned())),
        })
    }

    fn without_a_word(words: String) -> Self {
        Self { words, line: None, missing: None, misused: None }
    }

    /// The way on when the script does not fit the tools there are, as one that is older than they are. Python itself names
    /// what is nearly right.
    pub fn hint(&self, domain: &str, tools: &[ToolSpec]) -> Option<String> {
        let names: Vec<String> = tools.iter().map(|tool| python_name(&tool.name)).collect();
        let look = format!("`workbench tools {domain} --python` shows what they take");
        if let Some(misused) = &self.misused {
            return names.contains(misused).then(|| format!("has the tool changed? {look}"));
        }
        let missing = self.missing.as_deref()?;
        let meant = question(missing, names.iter().map(String::as_str));
        if let Some((_, guess)) = self.words.split_once("Did you mean: '") {
            let guess = guess.split('\'').next().unwrap_or_default();
            // What Python guesses may be a function of its own, for want of anything nearer.
            if meant.is_none() || names.iter().any(|name| name == guess) {
                return None;
            }
        }
        let meant = meant.map(|question| format!("{question} ")).unwrap_or_default();
        Some(format!("no tool is called `{missing}`: {meant}the tools are {}; {look}", names.join(", ")))
    }
}

/// `was killed after 8 s: …` of a line that says `KILLED after 8 s: …`.
fn stopped(headline: &str) -> Option<String> {
    let (word, rest) = headline.split_once(" after ")?;
    let word = match word {
        "KILLED" => "was killed",
        "STOPPED" => "was stopped",
        "CRASHED" => "crashed",
        _ => return None,
    };
    Some(format!("{word} after {}", cut(rest)))
}

/// The last exception that was told, in its first line, and the line of the script in which it was raised.
fn exception<'a>(output: &'a str, file: &str) -> Option<(&'a str, usize)> {
    let mark = format!("File \"{file}\", line ");
    let lines: Vec<&str> = output.lines().collect();
    let place = lines.iter().rposition(|line| inner(line).starts_with(&mark))?;
    let number = inner(lines[place]).strip_prefix(&mark)?;
    let number = number.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()?;
    // Frames and their source stand deeper than what they lead to, in groups of exceptions as well.
    let depth = |line: &str| line.len() - inner(line).len();
    let frame = depth(lines[place]);
    let exception = lines[place..].iter().find(|line| !inner(line).is_empty() && depth(line) < frame)?;
    Some((inner(exception).trim_start_matches("tools."), number))
}

fn inner(line: &str) -> &str {
    line.trim_start_matches([' ', '|'])
}

fn missing_name(exception: &str) -> Option<&str> {
    let begins =
        ["NameError: name '", "ImportError: cannot import name '", "AttributeError: module 'tools' has no attribute '"];
    let rest = begins.iter().find_map(|begin| exception.strip_prefix(begin))?;
    Some(rest.split_once('\'')?.0)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    const TRACE: &str = "Traceback (most recent call last):\n  File \"script.py\", line 8, in <module>\n    go()\n";

    #[test]
    fn one_line_of_a_reply_says_what_ended_a_script() {
        let group = "  + Exception Group Traceback (most recent call last):\n  |   File \"script.py\", line 8, in <module>\n  |     go()\n  \
                     | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    \
                     | Traceback (most recent call last):\n    |   File \"script.py\", line 3, in f\n    |     fetch(1)\n    \
                     | tools.ToolError: no record\n    +------------------------------------\n";
        let chain = format!(
            "{TRACE}KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n{TRACE}ValueError: b\nc\n"
        );
        let syntax = "  File \"script.py\", line 2\n    go(\n      ^\nSyntaxError: '(' was never closed\n";
        let library = format!("{TRACE}  File \"json.py\", line 1, in loads\n    parse\nJSONDecodeError: empty\n");
        let table: &[(String, &str, Option<usize>)] = &[
            (
                format!("EXIT CODE 1\nso far\n{TRACE}NameError: name 'x' is not defined\n"),
                "ended in NameError: name 'x' is not defined",
                Some(8),
            ),
            (format!("EXIT CODE 1\n{chain}"), "ended in ValueError: b", Some(8)),
            (format!("EXIT CODE 1\n{syntax}"), "ended in SyntaxError: '(' was never closed", Some(2)),
            (format!("EXIT CODE 1\n{library}"), "ended in JSONDecodeError: empty", Some(8)),
            (format!("EXIT CODE 1\n{group}"), "ended in ToolError: no record", Some(3)),
            ("EXIT CODE 1\nread 3\nno five fit\n".into(), "ended with exit code 1: no five fit", None),
            ("EXIT CODE 3\n(no output)".into(), "ended with exit code 3", None),
            (
                "KILLED after 8 s: the script reached its time limit\nso far".into(),
                "was killed after 8 s: the script reached its time limit",
                None,
            ),
            ("STOPPED after 1.0 s: no calls left\n(no output)".into(), "was stopped after 1.0 s: no calls left", None),
            (
                "CRASHED after 1.0 s: the interpreter aborted\n(no output)".into(),
                "crashed after 1.0 s: the interpreter aborted",
                None,
            ),
        ];
        for (reply, words, line) in table {
            let fault = ScriptFault::of(reply, "script.py").unwrap();
            assert_eq!((fault.words.as_str(), fault.line), (*words, *line), "{reply}");
        }
        for well in ["", "(no output)", "fine\n", "EXIT CODE of the door: 3\n", "KILLED time\n"] {
            assert_eq!(ScriptFault::of(well, "script.py"), None, "{well}");
        }
        let long = format!("EXIT CODE 1\n{TRACE}KeyError: {}\n", "é".repeat(5000));
        assert!(ScriptFault::of(&long, "script.py").unwrap().words.chars().count() < LONGEST + 20);
    }

    #[test]
    fn a_script_that_does_not_fit_the_tools_is_shown_the_way_to_them() {
        let tools: Vec<ToolSpec> = ["get-trail", "build_page"]
            .map(|name| ToolSpec { name: name.into(), description: String::new(), input_schema: json!({}) })
            .into();
        let hint = |call: &str, exception: &str| {
            let reply = format!(
                "EXIT CODE 1\nTraceback:\n  File \"script.py\", line 1, in <module>\n    {call}\n{exception}\n"
            );
            ScriptFault::of(&reply, "script.py").unwrap().hint("park", &tools)
        };
        let all = "the tools are get_trail, build_page; `workbench tools park --python` shows what they take";
        let told = [
            ("walk(1)", "NameError: name 'walk' is not defined", format!("no tool is called `walk`: {all}")),
            (
                "tools.walk(1)",
                "AttributeError: module 'tools' has no attribute 'walk'",
                format!("no tool is called `walk`: {all}"),
            ),
            (
                "get_trails(1)",
                "NameError: name 'get_trails' is not defined",
                format!("no tool is called `get_trails`: did you mean `get_trail`? {all}"),
            ),
            (
                "get_rails(1)",
                "NameError: name 'get_rails' is not defined. Did you mean: 'getattr'?",
                format!("no tool is called `get_rails`: did you mean `get_trail`? {all}"),
            ),
            (
                "get_trail(id=1)",
                "TypeError: get_trail() got an unexpected keyword argument 'id'",
                "has the tool changed? `workbench tools park --python` shows what they take".into(),
            ),
        ];
        for (call, exception, expected) in told {
            assert_eq!(hint(call, exception), Some(expected), "{exception}");
        }
        for (call, exception) in [
            ("print(trail)", "NameError: name 'trail' is not defined"),
            ("get_trial(1)", "NameError: name 'get_trial' is not defined. Did you mean: 'get_trail'?"),
            ("hang(1)", "NameError: name 'hang' is not defined. Did you mean: 'range'?"),
            ("len(3)", "TypeError: object of type 'int' has no len()"),
            ("one(1)", "TypeError: one() takes 0 positional arguments but 1 was given"),
            ("get_trail(1)", "ToolError: no trail 1"),
        ] {
            assert_eq!(hint(call, exception), None, "{exception}");
        }
    }
}
