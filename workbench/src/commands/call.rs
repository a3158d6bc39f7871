//! `workbench call`

use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Map, Value};

use crate::cli::CallArguments;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::results::format::CallEnd;
use crate::runner::Caller;
use crate::runner::prompts::failure;

use super::context::Context;

/// Calls one tool. The answer, or the `ERROR: …` a model would read, goes to standard output. Exit 1 when the tool
/// refused, 2 when there is no such tool, 3 when the plugin died.
pub(super) async fn run(context: &Context, arguments: &CallArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    let limits = arguments.limits.over(&domain.manifest.limits);
    let session = context.tool_session(&domain, &arguments.source, limits).await?;
    let spec = session.toolbox.tools().iter().find(|tool| tool.name == arguments.tool);
    let values = values_of(&arguments.arguments, spec)?;
    let outcome = session.toolbox.call(Caller::default(), &arguments.tool, Bytes::from(values)).await;
    session.tell_log();
    match outcome {
        Ok(answer) => {
            printer::data_bytes(&answer);
            printer::data("\n");
            Ok(Exit::Success)
        }
        Err(error) => {
            printer::data(&format!("{}\n", failure(error.message())));
            Ok(match session.calls().last().map(|call| call.outcome) {
                Some(CallEnd::Crashed | CallEnd::TimedOut) => Exit::Plugin,
                Some(CallEnd::Refused) => Exit::Usage,
                _ => Exit::Short,
            })
        }
    }
}

/// `NAME=VALUE` words, or one JSON object, as the JSON text a model would send.
fn values_of(words: &[String], spec: Option<&ToolSpec>) -> Result<String, Failure> {
    if let [only] = words
        && only.trim_start().starts_with('{')
    {
        serde_json::from_str::<Map<String, Value>>(only)
            .map_err(|error| Failure::usage(format!("the arguments are no JSON object: {error}")))?;
        return Ok(only.clone());
    }
    let mut values = Map::new();
    for word in words {
        let (name, text) = word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            let first = spec.and_then(|spec| spec.input_schema["properties"].as_object()?.keys().next());
            let name = first.map_or("NAME", String::as_str);
            Failure::usage(format!("`{word}` is not NAME=VALUE"))
                .hint(format!("write `{name}={word}`, or one JSON object in quotes"))
        })?;
        if values.insert(name.to_owned(), value_of(text, wants_text(spec, name))).is_some() {
            return Err(Failure::usage(format!("the argument `{name}` is given twice")));
        }
    }
    Ok(Value::Object(values).to_string())
}

/// Whether the tool's schema asks for a string, so that `query=42` stays a text.
fn wants_text(spec: Option<&ToolSpec>, name: &str) -> bool {
    let Some(kind) = spec.and_then(|spec| spec.input_schema.pointer(&format!("/properties/{name}/type"))) else {
        return false;
    };
    match kind {
        Value::String(kind) => kind == "string",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
        _ => false,
    }
}

fn value_of(text: &str, wants_text: bool) -> Value {
    let as_text = || Value::String(text.to_owned());
    if wants_text { as_text() } else { serde_json::from_str(text).unwrap_or_else(|_| as_text()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_become_what_the_schema_asks_for() {
        let spec = ToolSpec {
            name: "search".to_owned(),
            description: String::new(),
            input_schema: json!({"properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}),
        };
        let table = [
            (vec!["query=42", "limit=5"], r#"{"query":"42","limit":5}"#),
            (vec!["query=a=b"], r#"{"query":"a=b"}"#),
            (vec!["ids=[1,2]"], r#"{"ids":[1,2]}"#),
            (vec!["limit=many"], r#"{"limit":"many"}"#),
            (vec![r#" {"limit": 1}"#], r#" {"limit": 1}"#),
            (vec![], "{}"),
        ];
        for (words, expected) in table {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(values_of(&words, Some(&spec)).unwrap(), expected);
        }
        for wrong in [&["query"][..], &["=1"], &["{broken"], &["{\"a\":1"], &["query=a", "query=b"], &["{}", "limit=1"]]
        {
            let words: Vec<String> = wrong.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(values_of(&words, Some(&spec)).unwrap_err().exit, Exit::Usage, "{wrong:?}");
        }
    }
}
