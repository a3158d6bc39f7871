//! The C header and `docs/abi.md` say what the code says.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

use plugin_api::abi::{ABI_VERSION, BAD_REQUEST, Buffer, HostTable, OK};
use plugin_api::wire::{HostReply, HostRequest, Reply, Request, WIRE_VERSION};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const SYMBOLS: [&str; 3] = ["workbench_abi_version", "workbench_call", "workbench_free"];

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names declared with `keyword` inside the item that begins with `opening`, in order.
fn declared(source: &str, opening: &str, is_member: fn(&str) -> Option<&str>) -> Vec<String> {
    let (_, item) = source.split_once(opening).unwrap_or_else(|| panic!("`{opening}` is not in the source"));
    item.lines().take_while(|line| *line != "}").filter_map(is_member).map(str::to_owned).collect()
}

fn field(line: &str) -> Option<&str> {
    line.strip_prefix("    pub ").and_then(|line| line.split_once(':')).map(|(name, _)| name)
}

fn variant(line: &str) -> Option<&str> {
    let name = line.strip_prefix("    ")?;
    let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
    name.starts_with(char::is_uppercase).then_some(&name[..end])
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

#[test]
fn both_name_every_symbol_constant_and_field() {
    let (source, header, document) = (text("src/abi.rs"), text("include/workbench_plugin.h"), text("../docs/abi.md"));
    let exported = text("src/plugin.rs");
    for symbol in SYMBOLS {
        assert!(exported.contains(&format!("fn {symbol}(")), "`plugin!` does not export {symbol}");
        assert!(header.contains(&format!(" {symbol}(")), "the header lacks {symbol}");
        assert!(document.contains(&format!("| `{symbol}(")), "docs/abi.md lacks {symbol}");
    }
    assert_eq!(exported.matches("no_mangle").count(), SYMBOLS.len());

    let constants = [("ABI_VERSION", i64::from(ABI_VERSION)), ("OK", OK.into()), ("BAD_REQUEST", BAD_REQUEST.into())];
    assert_eq!(source.matches("pub const ").count(), constants.len() + 1, "a constant (or a `const fn`) is new");
    for (name, value) in constants {
        let define = format!("#define WORKBENCH_{name} {value}\n");
        assert!(header.contains(&define), "the header lacks `{define}`");
        assert!(document.contains(&format!("`{name}` = {value}")), "docs/abi.md lacks {name}");
    }
    assert!(document.contains(&format!("`WIRE_VERSION` = {WIRE_VERSION}")));

    for structure in ["Buffer", "HostTable"] {
        let fields = declared(&source, &format!("pub struct {structure} {{"), field);
        assert!(!fields.is_empty());
        let (_, section) = document.split_once(&format!("`{structure}`:")).expect("a section of the structure");
        for name in fields {
            assert!(section.contains(&format!("| `{name}")), "docs/abi.md lacks {structure}.{name}");
        }
    }
}

#[test]
fn a_c_compiler_sees_the_same_layout() {
    let checks = [
        ("sizeof(workbench_buffer)", size_of::<Buffer>()),
        ("offsetof(workbench_buffer, data)", offset_of!(Buffer, data)),
        ("offsetof(workbench_buffer, length)", offset_of!(Buffer, length)),
        ("offsetof(workbench_buffer, capacity)", offset_of!(Buffer, capacity)),
        ("sizeof(workbench_host_table)", size_of::<HostTable>()),
        ("offsetof(workbench_host_table, context)", offset_of!(HostTable, context)),
        ("offsetof(workbench_host_table, request)", offset_of!(HostTable, request)),
        ("offsetof(workbench_host_table, free)", offset_of!(HostTable, free)),
        ("WORKBENCH_ABI_VERSION", ABI_VERSION as usize),
        ("WORKBENCH_OK", OK as usize),
        ("WORKBENCH_BAD_REQUEST", BAD_REQUEST as usize),
    ];
    let mut program = String::from("#include \"workbench_plugin.h\"\n");
    for (expression, value) in checks {
        program.push_str(&format!("_Static_assert({expression} == {value}, \"{expression}\");\n"));
    }
    // A plugin in C, as far as signatures go: a definition must agree with its declaration.
    program.push_str(
        "uint32_t workbench_abi_version(void) { return WORKBENCH_ABI_VERSION; }\n\
         void workbench_free(workbench_buffer buffer) { (void)buffer; }\n\
         int32_t workbench_call(const workbench_host_table *host, const uint8_t *data, size_t length,\n\
                                workbench_buffer *out) {\n\
             int32_t code = host->request(host->context, data, length, out);\n\
             host->free(*out);\n\
             return code;\n\
         }\n",
    );
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("layout.c");
    std::fs::write(&file, program).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let compiler = Command::new("cc")
        .args(["-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .args([&include, &file])
        .output()
        .unwrap_or_else(|error| panic!("the C compiler `cc` does not run: {error}"));
    assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
}

#[test]
fn every_message_shown_is_read_and_every_message_read_is_shown() {
    shows::<Request>("Request");
    shows::<Reply>("Reply");
    shows::<HostRequest>("HostRequest");
    shows::<HostReply>("HostReply");
}

/// The first cell of each row below the heading of an enum is a head that reads as one, and comes out as it went in.
fn shows<T: DeserializeOwned + Serialize>(name: &str) {
    let document = text("../docs/abi.md");
    let (_, section) = document.split_once(&format!("\n### {name}: ")).expect("a section of the enum");
    let section = section.split("\n##").next().unwrap_or_default();
    let heads = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |")).map(|(head, _)| head);
    let mut shown = BTreeSet::new();
    for head in heads {
        let read: T = serde_json::from_str(head).unwrap_or_else(|error| panic!("{name}: {head}: {error}"));
        let head: Value = serde_json::from_str(head).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), head, "{name} says something else or more");
        shown.insert(
            head.as_str().map_or_else(|| head.as_object().unwrap().keys().next().unwrap().clone(), str::to_owned),
        );
    }
    let variants = declared(&text("src/wire.rs"), &format!("pub enum {name} {{"), variant);
    assert_eq!(shown, variants.iter().map(|variant| snake_case(variant)).collect());
}
