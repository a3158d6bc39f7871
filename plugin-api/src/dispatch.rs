//! From a message to a tool and back: what `#[tool]` and `plugin!` expand to calls into this module.
//!
//! It is public for the macros; an author needs none of it.

use std::any::Any;

use serde::Serialize;
pub use serde_json::Value;
pub use serde_json::value::RawValue;

pub use crate::argument::{Schema, choice, choice_schema};
use crate::error::{ToolError, ToolResult};
use crate::host::Host;
use crate::parameter::input_schema;
pub use crate::parameter::{Arguments, Parameter};
use crate::raw_json::RawJson;
use crate::wire::{ANSWER_HEAD, COMPILER, Hello, Reply, Request, ToolSpec, WIRE_VERSION, join, split};

/// What `#[tool]` implements, on a type of the function's name.
#[diagnostic::on_unimplemented(
    message = "a function in `plugin!` is no tool",
    label = "write `#[tool]` above this function"
)]
pub trait Tool {
    /// The name a model calls.
    const NAME: &'static str;
    /// The doc comment of the function.
    const DESCRIPTION: &'static str;

    /// The parameters, in order.
    fn parameters() -> Vec<Parameter>;

    /// Calls the function. The answer is a whole message: [`Reply::Answer`] with its JSON, or [`Reply::Unchanged`].
    ///
    /// # Errors
    /// When the arguments do not fit, or when the function refuses.
    fn call(host: &Host, arguments: &Arguments<'_>) -> ToolResult<Vec<u8>>;
}

/// A tool in the table of a plugin.
#[derive(Clone, Copy, Debug)]
pub struct ToolEntry {
    name: &'static str,
    describe: fn() -> ToolSpec,
    call: fn(&Host, &[u8]) -> ToolResult<Vec<u8>>,
}

impl ToolEntry {
    /// The entry of one tool.
    #[must_use]
    pub const fn of<T: Tool>() -> Self {
        Self { name: T::NAME, describe: describe::<T>, call: call::<T> }
    }
}

/// What `plugin!` makes: a name and a table.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// Name of the crate.
    pub name: &'static str,
    /// Its tools, in the order in which a model sees them.
    pub tools: &'static [ToolEntry],
}

/// What the boundary calls, whether the tools are functions of the plugin or come from a manifest.
pub trait Tools: Sync {
    /// Name of the plugin's crate.
    fn name(&self) -> &str;

    /// Hears the host's first message, before anything else.
    ///
    /// # Errors
    /// When the plugin cannot work with what the host says.
    fn meet(&self, _host: &Hello) -> ToolResult<()> {
        Ok(())
    }

    /// All tools as a model sees them.
    fn describe(&self) -> Vec<ToolSpec>;

    /// Calls a tool with a JSON object of arguments. The answer is a whole message.
    ///
    /// # Errors
    /// When there is no such tool, when the arguments do not fit, or when the tool refuses.
    fn call(&self, tool: &str, arguments: &[u8], host: &Host) -> ToolResult<Vec<u8>>;
}

impl Plugin {
    /// All tools as a model sees them.
    #[must_use]
    pub fn describe(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| (tool.describe)()).collect()
    }
}

impl Tools for Plugin {
    fn name(&self) -> &str {
        self.name
    }

    fn describe(&self) -> Vec<ToolSpec> {
        self.describe()
    }

    fn call(&self, tool: &str, arguments: &[u8], host: &Host) -> ToolResult<Vec<u8>> {
        match self.tools.iter().find(|entry| entry.name == tool) {
            Some(entry) => (entry.call)(host, arguments),
            None => Err(unknown_tool(tool, self.tools.iter().map(|entry| entry.name))),
        }
    }
}

pub(crate) fn unknown_tool<'known>(tool: &str, known: impl Iterator<Item = &'known str>) -> ToolError {
    let known: Vec<_> = known.collect();
    ToolError::new(format!("unknown tool `{tool}`; there are {}", known.join(", "))).with_code("unknown_tool")
}

/// Answers one message of the host, or says why it is not one.
pub(crate) fn respond(plugin: &dyn Tools, message: &[u8], host: &Host) -> Result<Vec<u8>, String> {
    let (request, body) = split(message)?;
    let reply = match request {
        Request::Hello(theirs) => match plugin.meet(&theirs) {
            Ok(()) => Reply::Hello(hello(plugin.name())),
            Err(error) => Reply::Error(error),
        },
        Request::Describe => Reply::Tools(plugin.describe()),
        Request::Call { tool } => match plugin.call(&tool, body, host) {
            Ok(answer) => return Ok(answer),
            Err(error) => Reply::Error(error),
        },
    };
    Ok(join(&reply, &[]))
}

fn hello(name: &str) -> Hello {
    Hello {
        wire: WIRE_VERSION,
        plugin_api: env!("CARGO_PKG_VERSION").to_owned(),
        name: name.to_owned(),
        compiler: COMPILER.to_owned(),
        ..Hello::default()
    }
}

/// What a tool may answer: anything that serialises.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of a tool",
    label = "this is not JSON",
    note = "derive `serde::Serialize` for it"
)]
pub trait Answer {
    /// The message that answers a call of this host with the value as JSON. A [`RawJson`] is handed on untouched.
    ///
    /// # Errors
    /// When the value cannot be JSON: a map whose keys are not strings, for instance.
    fn into_message(self, host: &Host) -> ToolResult<Vec<u8>>;
}

// The compiler would tell of serde's types instead.
#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Answer for T {
    fn into_message(self, host: &Host) -> ToolResult<Vec<u8>> {
        let mut value = Some(self);
        if let Some(raw) = (&mut value as &mut dyn Any).downcast_mut::<Option<RawJson>>().and_then(Option::take) {
            return Ok(raw.into_message(host));
        }
        let mut message = ANSWER_HEAD.to_vec();
        serde_json::to_writer(&mut message, &value)
            .map_err(|error| ToolError::new(format!("the tool's answer cannot be written as JSON: {error}")))?;
        Ok(message)
    }
}

/// What a tool may refuse with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "a model reads a `ToolError`",
    note = "return `ToolResult<…>`, and turn other errors into texts: `.map_err(|error| error.to_string())?`"
)]
pub trait Refusal {
    /// The error that a model reads.
    fn into_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Refusal for E {
    fn into_error(self) -> ToolError {
        self.into()
    }
}

/// What a tool returned, as a message.
///
/// # Errors
/// When it refused, or when its answer cannot be JSON.
pub fn answer<T: Answer, E: Refusal>(host: &Host, outcome: Result<T, E>) -> ToolResult<Vec<u8>> {
    outcome.map_err(Refusal::into_error)?.into_message(host)
}

fn describe<T: Tool>() -> ToolSpec {
    ToolSpec {
        name: T::NAME.to_owned(),
        description: T::DESCRIPTION.to_owned(),
        input_schema: input_schema(&T::parameters()),
    }
}

fn call<T: Tool>(host: &Host, body: &[u8]) -> ToolResult<Vec<u8>> {
    let parameters = T::parameters();
    T::call(host, &Arguments::read(T::NAME, &parameters, body)?)
}
