//! Plugins whose tools are declared in a manifest: what such a plugin says of each, and what it is asked.
//!
//! Most plugins have tools of their own, as functions, and need none of this.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

pub use crate::argument::Kind;
use crate::dispatch::{Tools, unknown_tool};
use crate::error::{ToolError, ToolResult};
use crate::host::Host;
use crate::parameter::{Arguments, Parameter, input_schema};
use crate::raw_json::RawJson;
use crate::wire::{Hello, ToolSpec};

/// What makes tools of declarations.
pub trait Interpreter: Sized + Send + Sync + 'static {
    /// Reads the declarations: a list with an object for each `[[tool]]` of the manifest.
    ///
    /// # Errors
    /// A text that says which declaration is not understood, and why.
    fn read(declarations: &Value) -> Result<Self, String>;

    /// The tools, in the order in which a model sees them.
    fn tools(&self) -> Vec<DeclaredTool>;

    /// Runs a tool. Its arguments are of the kinds it declares and within their ranges.
    ///
    /// # Errors
    /// When the tool refuses, or when its host does.
    fn call(&self, host: &Host, tool: &str, arguments: &Given) -> ToolResult<RawJson>;
}

/// The arguments of a call by name, in the order of the parameters. One that was left out has its default, or null.
pub type Given = serde_json::Map<String, Value>;

/// A tool as a manifest declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTool {
    /// The name a model calls.
    pub name: String,
    /// What it does and what it returns.
    pub description: String,
    /// What it takes, in order.
    pub parameters: Vec<DeclaredParameter>,
}

/// A parameter as a manifest declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredParameter {
    /// Its name.
    pub name: String,
    /// What a model reads; may be empty.
    pub description: String,
    /// Its type.
    pub kind: Kind,
    /// Its value when it is left out.
    pub default: Option<Value>,
    /// Whether it may be left out without a default.
    pub optional: bool,
    /// The least number that is accepted.
    pub minimum: Option<Value>,
    /// The greatest number that is accepted.
    pub maximum: Option<Value>,
}

/// A plugin that learns its tools from the host's first message. `declared_plugin!` makes one.
#[derive(Debug)]
pub struct DeclaredPlugin<I> {
    name: &'static str,
    learnt: RwLock<Option<Arc<Learnt<I>>>>,
}

#[derive(Debug)]
struct Learnt<I> {
    interpreter: I,
    tools: Vec<(DeclaredTool, Vec<Parameter>)>,
}

impl<I: Interpreter> DeclaredPlugin<I> {
    /// A plugin of this name that knows no tool yet.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, learnt: RwLock::new(None) }
    }

    /// Learns these tools, in place of what it knew: what the first message of the host brings about, and what a test does.
    ///
    /// # Errors
    /// When a declaration is not understood.
    pub fn learn(&self, declarations: &Value) -> Result<(), String> {
        let interpreter = I::read(declarations)?;
        let tools = interpreter.tools().into_iter().map(|tool| {
            let parameters = tool.parameters.iter().map(Parameter::declared).collect::<Result<Vec<_>, _>>();
            parameters.map(|parameters| (tool.clone(), parameters)).map_err(|error| format!("{}: {error}", tool.name))
        });
        let tools = tools.collect::<Result<Vec<_>, _>>()?;
        *self.learnt.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Learnt { interpreter, tools }));
        Ok(())
    }

    fn learnt(&self) -> Option<Arc<Learnt<I>>> {
        self.learnt.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<I: Interpreter> Tools for DeclaredPlugin<I> {
    fn name(&self) -> &str {
        self.name
    }

    fn meet(&self, host: &Hello) -> ToolResult<()> {
        let Some(declarations) = &host.tools else {
            let message = format!("the plugin {} has no tools of its own, and none were declared", self.name);
            return Err(ToolError::new(message).with_help("declare each as [[tool]] in domain.toml"));
        };
        self.learn(declarations)
            .map_err(|error| ToolError::new(format!("the declared tools are not understood: {error}")))
    }

    fn describe(&self) -> Vec<ToolSpec> {
        let learnt = self.learnt();
        let tools = learnt.iter().flat_map(|learnt| &learnt.tools);
        tools
            .map(|(tool, parameters)| ToolSpec {
                name: tool.name.clone(),
                description: tool.description.clone(),
                input_schema: input_schema(parameters),
            })
            .collect()
    }

    fn call(&self, name: &str, arguments: &[u8], host: &Host) -> ToolResult<Vec<u8>> {
        let learnt = self.learnt().ok_or("the plugin has not been told its tools")?;
        let Some((tool, parameters)) = learnt.tools.iter().find(|(tool, _)| tool.name == name) else {
            return Err(unknown_tool(name, learnt.tools.iter().map(|(tool, _)| tool.name.as_str())));
        };
        let arguments = Arguments::read(&tool.name, parameters, arguments)?;
        let names = tool.parameters.iter().map(|parameter| &parameter.name);
        let given: Given = names.map(|name| Ok((name.clone(), arguments.get(name)?))).collect::<ToolResult<_>>()?;
        Ok(learnt.interpreter.call(host, &tool.name, &given)?.into_message(host))
    }
}
