//! Checks of declared tools: that each does one thing, with names that exist and addresses that are allowed.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::declared::{Action, DeclaredTool, PLUGIN, Page, Pages};
use super::lint::Report;
use super::manifest::{ApiSection, Manifest};
use super::text::Step;
use super::{authority, placeholders, tool_names};
use crate::expression;
use crate::nearest::question;

use Step::{Index, Key};

/// Pages that one call may read at most.
const MOST_PAGES: u64 = 1000;

/// What the templates and expressions of one tool are checked against, and what they have used so far.
struct Tool<'a> {
    index: usize,
    declared: &'a DeclaredTool,
    manifest: &'a Manifest,
    /// Whether `{item}` means something.
    has_item: bool,
    used: BTreeSet<String>,
    /// Whether something that may use an argument is wrong: what is unused shows once that is mended.
    is_in_doubt: bool,
}

impl<'a> Tool<'a> {
    fn at<'k>(&self, keys: &[&'k str]) -> Vec<Step<'k>> {
        [Key("tool"), Index(self.index)].into_iter().chain(keys.iter().map(|key| Key(key))).collect()
    }

    fn arguments(&self) -> Vec<&'a str> {
        self.declared.arguments.names().collect()
    }
}

impl Report<'_> {
    /// Names of `[callers]` that are no tools, where the tools are known without a plugin.
    fn callers(&mut self, manifest: &Manifest) {
        let known: Vec<&str> = manifest.tool.iter().map(|tool| tool.name.as_str()).collect();
        for name in manifest.callers.keys().filter(|name| !known.contains(&name.as_str())) {
            self.add(&[Key("callers"), Key(name)], format!("there is no tool `{name}`"))
                .help(question(name, known.iter().copied()).unwrap_or_else(|| "name one of the tools".to_owned()));
        }
    }

    /// Everything that is wrong with `[[tool]]`.
    pub(super) fn tools(&mut self, manifest: &Manifest) {
        if !manifest.tool.is_empty() {
            self.callers(manifest);
        }
        let is_declaring = manifest.domain.plugin.as_deref() == Some(PLUGIN);
        if !is_declaring && !manifest.tool.is_empty() {
            self.add(&[Key("tool"), Index(0)], format!("tools are declared for `plugin = \"{PLUGIN}\"` only"))
                .help("write that in [domain], or remove each [[tool]]: a plugin of its own has its own tools");
        }
        if is_declaring && manifest.tool.is_empty() {
            self.add(
                &[Key("domain"), Key("plugin")],
                format!("`{PLUGIN}` has no tools of its own, and none are declared"),
            )
            .help("declare each as [[tool]]: docs/manifest.md tells how");
        }
        let mut names = BTreeSet::new();
        for (index, declared) in manifest.tool.iter().enumerate() {
            let name = [Key("tool"), Index(index), Key("name")];
            if let Err(fault) = tool_names::check_tool(&declared.name) {
                self.add(&name, format!("`{}` {}", declared.name, fault.reason)).help(fault.help);
            } else if !names.insert(declared.name.as_str()) {
                self.add(&name, format!("a tool `{}` stands above already", declared.name)).help("rename one of them");
            }
            if declared.description.trim().is_empty() {
                self.add(&[Key("tool"), Index(index), Key("description")], "is empty")
                    .help("say what the tool does and what it returns: a script is written from this text");
            }
            self.arguments(index, declared);
            self.tool(Tool { index, declared, manifest, has_item: false, used: BTreeSet::new(), is_in_doubt: false });
        }
    }

    fn tool(&mut self, mut tool: Tool<'_>) {
        let declared = tool.declared;
        let actions = declared.actions();
        let [action] = actions.as_slice() else {
            let known = DeclaredTool::ACTIONS.join(", ");
            let message =
                if actions.is_empty() { "it does not say what it does" } else { "it does more than one thing" };
            self.add(&tool.at(&[]), message).help(format!("write exactly one of: {known}"));
            return;
        };
        if !matches!(action, Action::Get(_)) {
            let others = [
                ("query", !declared.query.is_empty()),
                ("pick", declared.pick.is_some()),
                ("pages", declared.pages.is_some()),
            ];
            for (key, _) in others.iter().filter(|(_, given)| *given) {
                self.add(&tool.at(&[key]), "goes with `get` only").help("put it beside `get`, or remove it");
            }
        }
        match *action {
            Action::Get(get) => {
                self.request(&mut tool, &[], get, &declared.query);
                if let Some(pages) = &declared.pages {
                    self.pages(&mut tool, pages);
                }
                self.expression(&mut tool, &["pick"], declared.pick.as_deref());
            }
            Action::Download(download) => {
                self.request(&mut tool, &["download"], &download.get, &download.query);
                self.expression(&mut tool, &["download", "link"], download.link.as_deref());
                self.save(&mut tool, &["download", "save"], &download.save, None);
            }
            Action::ContactSheet(sheet) => {
                self.each(&mut tool, &["contact_sheet", "each"], &sheet.each);
                self.picture(&mut tool, &["contact_sheet", "picture"], &sheet.picture);
                self.tool_template(&mut tool, &["contact_sheet", "label"], &sheet.label);
                tool.has_item = false;
                self.save(&mut tool, &["contact_sheet", "save"], &sheet.save, Some("jpg"));
            }
            Action::Page(page) => self.page(&mut tool, page),
            Action::SaveText(save) => {
                self.tool_template(&mut tool, &["save_text", "text"], &save.text);
                self.save(&mut tool, &["save_text", "save"], &save.save, None);
            }
        }
        let unused = tool.arguments().into_iter().filter(|name| !tool.used.contains(*name) && !tool.is_in_doubt);
        for name in unused {
            self.add(&tool.at(&["arguments", name]), "it is never used")
                .help(format!("write `{{{name}}}` where its value belongs, or remove it"));
        }
    }

    fn page(&mut self, tool: &mut Tool<'_>, page: &Page) {
        // The template reads all of them.
        tool.used.extend(tool.declared.arguments.names().map(str::to_owned));
        if page.template.contains(['/', '\\']) || !page.template.ends_with(".html") {
            self.add(&tool.at(&["page", "template"]), format!("`{}` is no template", page.template))
                .help("write the name of a file `….html` in the domain's folder `templates/`");
        }
        match &page.each {
            Some(each) => self.each(tool, &["page", "each"], each),
            None => {
                let others = [("get", page.get.is_some()), ("picture", page.picture.is_some())];
                for (key, _) in others.iter().filter(|(_, given)| *given) {
                    self.add(&tool.at(&["page", key]), "is read for each item of what?")
                        .help("add `each = \"NAME\"`, the argument that lists the items");
                }
                tool.has_item = true;
            }
        }
        if let Some(get) = &page.get {
            self.request(tool, &["page"], get, &page.query);
            if !get.contains("{item}") && !page.query.values().any(|value| value.contains("{item}")) {
                self.add(&tool.at(&["page", "get"]), "it is the same for each item")
                    .help("write `{item}` where it differs");
            }
        } else if !page.query.is_empty() {
            self.add(&tool.at(&["page", "query"]), "goes with `get` only").help("add `get`, or remove it");
        }
        if let Some(picture) = &page.picture {
            self.picture(tool, &["page", "picture"], picture);
        }
        tool.has_item = false;
        self.save(tool, &["page", "save"], &page.save, Some("html"));
    }

    /// The argument whose items are shown.
    fn each(&mut self, tool: &mut Tool<'_>, keys: &[&str], each: &str) {
        tool.has_item = true;
        tool.used.insert(each.to_owned());
        let lists = || tool.declared.arguments.0.iter().filter(|(_, argument)| argument.r#type.items().is_some());
        match tool.declared.arguments.get(each) {
            Some(argument) if argument.r#type.items().is_some() => {}
            Some(_) => {
                self.add(&tool.at(keys), format!("`{each}` is no list"))
                    .help("write `type = \"list of string\"` for it, or name another argument");
            }
            None => {
                tool.is_in_doubt = true;
                let help = question(each, lists().map(|(name, _)| name.as_str()));
                self.add(&tool.at(keys), format!("unknown argument `{each}`")).help =
                    help.or_else(|| Some("name an argument that is a list".to_owned()));
            }
        }
        if tool.declared.arguments.get("item").is_some() {
            self.add(&tool.at(&["arguments", "item"]), "`{item}` is one item of the list that `each` names")
                .help("rename it");
        }
    }

    /// Placeholders of any template; what is wrong with one is told once.
    fn tool_template(&mut self, tool: &mut Tool<'_>, keys: &[&str], template: &str) -> bool {
        let found = match placeholders::find(template) {
            Ok(found) => found,
            Err(fault) => {
                self.add_part(&tool.at(keys), fault.range, fault.reason).help(fault.help);
                tool.is_in_doubt = true;
                return false;
            }
        };
        let known = tool.arguments();
        let mut is_right = true;
        for (name, range) in found {
            tool.used.insert(name.to_owned());
            if known.contains(&name) || name == "item" && tool.has_item {
                continue;
            }
            (is_right, tool.is_in_doubt) = (false, true);
            let at = tool.at(keys);
            let problem = self.add_part(&at, range, format!("unknown argument `{name}`"));
            let meant = question(name, known.iter().copied().chain(tool.has_item.then_some("item")));
            problem.help(
                meant.unwrap_or_else(|| {
                    format!("add `arguments.{name} = {{ type = \"string\", description = \"…\" }}`")
                }),
            );
        }
        is_right
    }

    fn expression(&mut self, tool: &mut Tool<'_>, keys: &[&str], text: Option<&str>) {
        let Some(text) = text else { return };
        if let Err(error) = expression::check(text, &["json", "arguments"]) {
            tool.is_in_doubt = true;
            return self.add_rule(&tool.at(keys), &error);
        }
        match expression::attributes(text, "arguments") {
            Ok(Some(names)) => {
                let known = tool.arguments();
                for name in names {
                    if !known.contains(&name.as_str()) {
                        tool.is_in_doubt = true;
                        let help = question(&name, known.iter().copied());
                        self.add(&tool.at(keys), format!("unknown argument `arguments.{name}`")).help = help;
                    }
                    tool.used.insert(name);
                }
            }
            Ok(None) => tool.used.extend(tool.declared.arguments.names().map(str::to_owned)),
            Err(error) => self.add_rule(&tool.at(keys), &error),
        }
    }

    fn request(&mut self, tool: &mut Tool<'_>, keys: &[&str], get: &str, query: &BTreeMap<String, String>) {
        let at = [keys, &["get"]].concat();
        if self.tool_template(tool, &at, get) {
            self.address(tool, &at, get);
        }
        let fixed = fixed_parameters(get);
        for (name, value) in query {
            let at = [keys, &["query", name.as_str()]].concat();
            self.tool_template(tool, &at, value);
            if fixed.contains(name) {
                self.add(&tool.at(&at), format!("the address sets `{name}` already, and it would be sent twice"))
                    .help("remove one of the two");
            }
        }
    }

    /// Where a placeholder may stand in an address, and whether the address is allowed.
    fn address(&mut self, tool: &Tool<'_>, keys: &[&str], get: &str) {
        let at = tool.at(keys);
        if let Some(from) = get.find(['?', '#'])
            && get[from..].contains('{')
        {
            self.add_part(&at, from..get.len(), "a placeholder stands behind the path")
                .help("write the parameter as `query = { NAME = \"{…}\" }`");
        }
        let Some((scheme, rest)) = get.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '{'])) else {
            if tool.manifest.api.base.is_none() {
                self.add(&at, "wants an `[api]` with a `base`")
                    .help("write `base = \"https://…\"` and its host in `hosts`");
            }
            return;
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('{') {
            self.add(&at, "a placeholder cannot be part of a host: a model would choose whom to ask")
                .help("write the host out");
            return;
        }
        // Without the path, which may hold placeholders.
        match Url::parse(&format!("{scheme}://{host}")) {
            Ok(address) if matches!(address.scheme(), "http" | "https") => {
                if !is_allowed(&tool.manifest.api, &address) {
                    let host = authority::of(&address);
                    self.add(&at, format!("its host `{host}` is not among `hosts` of [api]"))
                        .help(format!("add `\"{host}\"` there"));
                }
                self.transport(&at, &address);
            }
            _ => {
                self.add(&at, format!("`{get}` is no http or https address"))
                    .help("write a path on `base`, or `https://…`");
            }
        }
    }

    /// The name under which a file is saved: the extension is fixed, so that no value chooses it.
    fn save(&mut self, tool: &mut Tool<'_>, keys: &[&str], save: &str, wanted: Option<&str>) {
        if !self.tool_template(tool, keys, save) {
            return;
        }
        let extension = save.rsplit_once('.').map(|(_, extension)| extension);
        let is_extension = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let example = wanted.unwrap_or("txt");
        if save.contains(['/', '\\']) {
            self.add(&tool.at(keys), "is no name of a file: it has a slash")
                .help("files are saved in the run's `out/`; write the name alone");
        } else if !extension.is_some_and(is_extension) {
            self.add(&tool.at(keys), "the name has no extension").help(format!("write `….{example}`"));
        } else if wanted.is_some() && extension != wanted {
            self.add(&tool.at(keys), format!("it is saved as `.{example}`, whatever it holds"))
                .help(format!("write `….{example}`"));
        }
    }

    /// The name of a picture that another tool has downloaded.
    fn picture(&mut self, tool: &mut Tool<'_>, keys: &[&str], picture: &str) {
        if !self.tool_template(tool, keys, picture) {
            return;
        }
        if !picture.contains("{item}") {
            self.add(&tool.at(keys), "it is the same for each item").help("write `{item}` where it differs");
            return;
        }
        let downloads = tool.manifest.tool.iter().filter_map(|tool| tool.download.as_ref());
        let saved: Vec<&str> = downloads.map(|download| download.save.as_str()).collect();
        if saved.iter().all(|save| shape(save) != shape(picture)) {
            let help = match saved.as_slice() {
                [] => "declare a tool with `download` that saves it".to_owned(),
                saved => format!(
                    "write it as it is saved: {}",
                    saved.iter().map(|save| format!("`{save}`")).collect::<Vec<_>>().join(", ")
                ),
            };
            self.add(&tool.at(keys), "no tool downloads a file of this name").help(help);
        }
    }

    fn pages(&mut self, tool: &mut Tool<'_>, pages: &Pages) {
        self.expression(tool, &["pages", "items"], Some(&pages.items));
        self.expression(tool, &["pages", "next"], pages.next.as_deref());
        self.expression(tool, &["pages", "total"], pages.total.as_deref());
        let ways = [pages.next.is_some(), pages.offset.is_some(), pages.number.is_some()];
        if ways.iter().filter(|given| **given).count() != 1 {
            self.add(&tool.at(&["pages"]), "it does not say in one way how the next page is found")
                .help("write exactly one of: next, offset, number");
            return;
        }
        let counts = pages.next.is_none();
        let misplaced = [
            ("first", pages.first.is_some() && pages.number.is_none(), "goes with `number` only"),
            ("limit", pages.limit.is_some() && !counts, "goes with `offset` or `number` only"),
            ("total", pages.total.is_some() && !counts, "goes with `offset` or `number` only"),
            ("size", pages.size.is_some() && pages.limit.is_none(), "goes with `limit`, the parameter that says it"),
            (
                "limit",
                pages.limit.is_some() && pages.size.is_none() && counts,
                "goes with `size`, the length of a page",
            ),
        ];
        let fixed = tool.declared.get.as_deref().map(fixed_parameters).unwrap_or_default();
        for (key, name) in [("offset", &pages.offset), ("number", &pages.number), ("limit", &pages.limit)] {
            let Some(name) = name else { continue };
            if fixed.contains(name) || tool.declared.query.contains_key(name) {
                self.add(&tool.at(&["pages", key]), format!("`{name}` is set already, and it would be sent twice"))
                    .help("take it out of `get` or `query`");
            }
        }
        for (key, _, message) in misplaced.iter().filter(|(_, is_wrong, _)| *is_wrong) {
            self.add(&tool.at(&["pages", key]), message);
        }
        if pages.size == Some(0) {
            self.add(&tool.at(&["pages", "size"]), "must be at least 1");
        }
        if !(1..=MOST_PAGES).contains(&pages.at_most) {
            self.add(&tool.at(&["pages", "at_most"]), format!("must be from 1 to {MOST_PAGES}"));
        }
    }
}

/// Names of the parameters that stand in an address.
fn fixed_parameters(get: &str) -> Vec<String> {
    let query = get.split_once('#').map_or(get, |(address, _)| address).split_once('?').map_or("", |(_, query)| query);
    url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name.into_owned()).collect()
}

fn is_allowed(api: &ApiSection, address: &Url) -> bool {
    let host = authority::of(address);
    api.hosts.iter().any(|allowed| authority::parse(allowed).as_ref() == Some(&host))
}

/// A template without the names of its placeholders.
fn shape(template: &str) -> String {
    let found = placeholders::find(template).unwrap_or_default();
    found.iter().rev().fold(template.to_owned(), |mut shape, (_, range)| {
        shape.replace_range(range.clone(), "");
        shape
    })
}
