//! The declared tools: which there are, and which code runs each.

use plugin_api::declared::{DeclaredTool, Given, Interpreter};
use plugin_api::{Host, RawJson, ToolError, ToolResult};
use serde::Deserialize;
use serde_json::Value;

use crate::declaration::{Action, Declaration};
use crate::template::Names;
use crate::{reading, showing};

/// The tools of one manifest.
#[derive(Debug)]
pub struct Declared {
    declarations: Vec<Declaration>,
    tools: Vec<DeclaredTool>,
}

impl Interpreter for Declared {
    fn read(declarations: &Value) -> Result<Self, String> {
        let declarations = Vec::<Declaration>::deserialize(declarations).map_err(|error| error.to_string())?;
        let tools = declarations.iter().map(Declaration::tool).collect::<Result<_, _>>()?;
        Ok(Self { declarations, tools })
    }

    fn tools(&self) -> Vec<DeclaredTool> {
        self.tools.clone()
    }

    fn call(&self, host: &Host, tool: &str, arguments: &Given) -> ToolResult<RawJson> {
        let declaration = self.declarations.iter().find(|declaration| declaration.name == tool);
        let declaration = declaration.ok_or_else(|| ToolError::new(format!("{tool} is not declared")))?;
        let names = Names::of(arguments);
        match &declaration.action {
            Action::Get(get) => reading::get(host, get, names),
            Action::Download { download } => reading::download(host, download, names),
            Action::ContactSheet { contact_sheet } => {
                showing::contact_sheet(host, contact_sheet, names, &self.declarations)
            }
            Action::Page { page } => showing::page(host, page, names, &self.declarations),
            Action::SaveText { save_text } => showing::save_text(host, save_text, names),
        }
    }
}
