//! Every word the workbench itself says to a model. They are part of the measurement, so they stand
//! here and nowhere else, and a snapshot holds them.

use serde_json::json;

use super::code_mode::ScriptForm;
use crate::model::types::{Callers, ScriptLanguage, ToolDefinition};

/// Name of code mode's one tool.
pub const RUN_PYTHON: &str = "run_python";

/// The system text of the modes in which the model calls the tools itself.
pub fn calling_system(persona: &str) -> String {
    format!("{}\n\nComplete the task with the tools you have. Be efficient.", persona.trim())
}

/// The system text of mode `code`; `api` is the Python text of the tools, `module` the domain's own name for the module
/// that has them. Where there is no tool that could say it, the text tells what becomes of a script.
pub fn scripting_system(persona: &str, api: &str, module: &str, form: ScriptForm, output_chars: usize) -> String {
    let (persona, api) = (persona.trim(), api.trim_end());
    let (way, end) = match form {
        ScriptForm::ToolCall => (format!("running it with the tool `{RUN_PYTHON}`."), ""),
        ScriptForm::FencedBlock => (
            format!(
                "answering with it, as one fenced block that begins with ```python. It is run, and the next message is \
                 what it printed, standard output before standard error: the last {output_chars} characters. A first \
                 line EXIT CODE says when it failed."
            ),
            "\n- When the task is complete, answer in words, without a block: that ends it.",
        ),
    };
    format!(
        "{persona}

Complete the task by writing ONE Python script and {way}

The script reaches the data only through these functions. Import them with `from tools import *`, or \
`from {module} import *`. With `from tools.aio import *` the same functions are coroutines, for `asyncio.gather`; \
`await` works at top level.

```python
{api}
```

Rules:
- The functions return plain Python data: dicts, lists, strings, numbers.
- Loop, filter and check the requirements in code, not in your head.
- Never print raw records. Print short summaries and, at the end, the answer.
- When the script fails you get its traceback: mend it and run it again.
- A ToolError is a refusal; its message says why. Read it before you try again.
- Each run starts from nothing: variables are gone, saved files stay.{end}"
    )
}

/// The system text of mode `hosted`, in which the provider's own words tell the model how to write code.
pub fn hosted_system(persona: &str, language: ScriptLanguage) -> String {
    let (way, gather, print) = match language {
        ScriptLanguage::Python => (
            "writing Python for the code execution tool. The other tools are coroutine functions there: each takes one \
             dict with its arguments and returns a text, JSON as a rule, so `json.loads(await tool({...}))`.",
            "asyncio.gather",
            "print",
        ),
        ScriptLanguage::JavaScript => (
            "writing one program that calls the tools: `await tools.NAME({...})`. A tool returns a text, JSON as a rule, so \
             `JSON.parse(await tools.NAME({...}))`. Only what `text(...)` puts out comes back.",
            "Promise.all",
            "put out",
        ),
    };
    format!(
        "{}

Complete the task by {way}

Rules:
- Loop, filter and check the requirements in code, not in your head; for many calls at once use {gather}.
- Never {print} raw records, only short summaries and, at the end, the answer.
- A text that begins with ERROR is a refusal; it says why. Read it before you try again.",
        persona.trim()
    )
}

/// To a call that took longer than a script of the provider's waits for it.
pub fn too_late(tool: &str, seconds: u64) -> String {
    format!(
        "{tool} was given up after {seconds} s: the code that waits for it would have been told of a time-out soon after"
    )
}

/// Code mode's one tool.
pub fn run_python(output_chars: usize) -> ToolDefinition {
    ToolDefinition {
        name: RUN_PYTHON.to_owned(),
        description: format!(
            "Runs a Python script and returns what it printed, standard output before standard error: the last \
             {output_chars} characters. A first line EXIT CODE says when it failed."
        ),
        input_schema: json!({
            "type": "object",
            "properties": { "code": { "type": "string", "description": "The whole script." } },
            "required": ["code"],
            "additionalProperties": false
        }),
        callers: Callers::Direct,
    }
}

/// What a model reads for any call that failed.
pub fn failure(message: &str) -> String {
    format!("ERROR: {message}")
}

/// To a call of a tool that does not exist.
pub fn unknown_tool<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    format!("unknown tool `{name}`; the tools are {}", known.join(", "))
}

/// To a call of a plugin that died over it.
pub fn crashed(tool: &str, cause: &str) -> String {
    format!("{tool} crashed: {cause}")
}

/// To a call that took too long.
pub fn timed_out(tool: &str, seconds: u64) -> String {
    format!("{tool} took longer than {seconds} s and was stopped")
}

/// To a call whose arguments the answer's token limit cut off.
pub fn cut_off(max_tokens: u32) -> String {
    format!("not run: your answer was cut off at {max_tokens} tokens, in the middle of this call. Say it shorter.")
}

/// To a call whose arguments cannot be read.
pub fn no_json(error: &serde_json::Error) -> String {
    format!("not run: the arguments are not valid JSON: {error}")
}

/// To a call whose arguments are JSON of another kind.
pub const NO_OBJECT: &str = "not run: the arguments must be a JSON object, such as {\"name\": \"value\"}";

/// To a call whose arguments nobody could write down.
pub const TOO_DEEP: &str = "not run: the arguments stand in more than a hundred brackets";

/// Whether a text is that of [`cut_off`], as a model reads it.
pub fn is_cut_off(text: &str) -> bool {
    let unlimited = failure(&cut_off(0));
    unlimited.split_once('0').is_some_and(|(before, after)| text.starts_with(before) && text.ends_with(after))
}

/// To `run_python` with other arguments than a script.
pub const NO_CODE: &str = "run_python takes one argument, `code`: the script as a string";

/// To the call that finds the budget used up.
pub fn budget_spent(calls: u32) -> String {
    format!("this run may make {calls} tool calls, and has made them")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "dnd_encounter_tools";
    const PERSONA: &str = "You work for a museum's curators.";
    const API: &str = "def get_object(object_id: int) -> dict:\n    \"\"\"Everything about one object.\"\"\"\n";

    #[test]
    fn what_a_model_reads_in_loop_and_serial() {
        insta::assert_snapshot!(calling_system(PERSONA));
    }

    #[test]
    fn what_a_model_reads_in_hosted() {
        let texts =
            [ScriptLanguage::Python, ScriptLanguage::JavaScript].map(|language| hosted_system(PERSONA, language));
        insta::assert_snapshot!(texts.join("\n\n---\n\n"));
    }

    #[test]
    fn what_a_model_reads_in_code() {
        let system = |form| scripting_system(PERSONA, API, MODULE, form, 6000);
        insta::assert_snapshot!(system(ScriptForm::ToolCall));
        insta::assert_json_snapshot!(run_python(6000));
        insta::assert_snapshot!(system(ScriptForm::FencedBlock));
    }

    #[test]
    fn what_a_model_reads_when_a_call_is_not_run() {
        let texts = [
            unknown_tool("get_objekt", ["search", "get_object"]),
            cut_off(4096),
            budget_spent(2000),
            crashed("get_object", "exit status 3"),
            timed_out("get_object", 60),
            too_late("get_object", 200),
            serde_json::from_str::<serde_json::Value>("{\"object_id\": 7")
                .map_err(|error| no_json(&error))
                .unwrap_err(),
            NO_OBJECT.to_owned(),
            TOO_DEEP.to_owned(),
            NO_CODE.to_owned(),
        ];
        insta::assert_snapshot!(texts.clone().map(|text| failure(&text)).join("\n"));
        let cut: Vec<&String> = texts.iter().filter(|text| is_cut_off(&failure(text))).collect();
        assert_eq!(cut, [&cut_off(4096)]);
    }
}
