//! What a plugin may not do, tried with the standard library.

use std::fs;
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::Command;
use std::thread;

use plugin_api::prelude::*;

/// What to try.
#[derive(Clone, Copy, ToolArgument)]
pub(crate) enum Deed {
    Read,
    List,
    Write,
    Stretch,
    MakeFolder,
    Remove,
    RenameTo,
    LinkTo,
    SymbolicLinkTo,
    ConnectTcp,
    ListenTcp,
    OpenUdp,
    ConnectUnix,
    ListenUnix,
    OpenUnix,
    Start,
    StartThread,
}

/// Tries something and says how it went: `done`, or the kind of the error.
#[tool]
pub(crate) fn attempt(
    /** What to try. */
    deed: Deed,
    /** The file, the address or the program it is tried on. */
    target: String,
    /** Whether a thread of its own tries it. */
    #[default(false)]
    in_thread: bool,
) -> ToolResult<String> {
    let tried = if in_thread {
        thread::spawn(move || deed.on(&target)).join().map_err(|_| ToolError::new("the thread panicked"))?
    } else {
        deed.on(&target)
    };
    Ok(tried.map_or_else(|error| error.kind().to_string(), |()| "done".to_owned()))
}

impl Deed {
    fn on(self, target: &str) -> io::Result<()> {
        match self {
            Self::Read => fs::File::open(target)?.read(&mut [0]).map(drop),
            Self::List => fs::read_dir(target).map(drop),
            Self::Write => fs::write(target, "mine"),
            Self::Stretch => fs::File::create(target)?.set_len(1 << 40),
            Self::MakeFolder => fs::create_dir(target),
            Self::Remove => fs::remove_file(target),
            Self::RenameTo => own_file().and_then(|file| fs::rename(file, target)),
            Self::LinkTo => own_file().and_then(|file| fs::hard_link(file, target)),
            Self::SymbolicLinkTo => std::os::unix::fs::symlink("/", target),
            Self::ConnectTcp => TcpStream::connect(target).map(drop),
            Self::ListenTcp => TcpListener::bind(target).map(drop),
            Self::OpenUdp => UdpSocket::bind(target).map(drop),
            Self::ConnectUnix => UnixStream::connect(target).map(drop),
            Self::ListenUnix => UnixListener::bind(target).map(drop),
            Self::OpenUnix => UnixDatagram::unbound().map(drop),
            Self::Start => Command::new(target).spawn()?.wait().map(drop),
            Self::StartThread => thread::Builder::new().name(target.to_owned()).spawn(|| ()).map(drop),
        }
    }
}

/// A file this plugin may write.
fn own_file() -> io::Result<&'static str> {
    const FILE: &str = "out/own";
    fs::write(FILE, "mine").map(|()| FILE)
}
