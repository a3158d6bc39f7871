//! What a file is that the loader refuses: a library of another system or processor, or none at all.

use std::env::consts::{ARCH, OS};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// As many bytes as are needed to tell.
const HEAD: usize = 20;

/// Numbers of processors in the head of an ELF file, and their names as Rust has them.
const PROCESSORS: &[(u16, &str)] = &[(3, "x86"), (40, "arm"), (62, "x86_64"), (183, "aarch64"), (243, "riscv64")];

/// What the library is, and what to do, unless it is one of this platform.
pub(super) fn misfit(library: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(library).ok()?.take(HEAD as u64).read_to_end(&mut head).ok()?;
    let kind = kind_of(&head)?;
    Some(format!("it is {kind}; this workbench needs a library for {ARCH} on {OS}: build the plugin on this machine"))
}

/// Nothing for a library of this system and processor.
fn kind_of(head: &[u8]) -> Option<String> {
    match head {
        [] => Some("an empty file".to_owned()),
        [0x7f, b'E', b'L', b'F', ..] if OS == "macos" => Some("a library of Linux".to_owned()),
        [0x7f, b'E', b'L', b'F', _, order, .., low, high] if head.len() == HEAD => {
            let number =
                if *order == 2 { u16::from_be_bytes([*low, *high]) } else { u16::from_le_bytes([*low, *high]) };
            let processor = PROCESSORS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
            (processor != Some(ARCH)).then(|| match processor {
                Some(processor) => format!("a library for {processor}"),
                None => format!("a library for another processor, number {number} in ELF"),
            })
        }
        // Cut short: the loader says so.
        [0x7f, b'E', b'L', b'F', ..] => None,
        // Of one processor, with either order of bytes, or of several.
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xfa, 0xcf | 0xce, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => {
            (OS != "macos").then(|| "a library of macOS".to_owned())
        }
        [b'M', b'Z', ..] => Some("a library of Windows".to_owned()),
        _ => Some("no library".to_owned()),
    }
}
