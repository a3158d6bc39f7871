//! `plugin!` and `declared_plugin!`: the three symbols of a plugin, and no more; what they do is in `abi.rs`.

/// What `plugin!` expands to when its list is right.
#[doc(hidden)]
#[macro_export]
macro_rules! export_tools {
    ($($tool:expr),+) => {
        /// The tools of this plugin.
        pub const PLUGIN: $crate::dispatch::Plugin = $crate::dispatch::Plugin {
            name: ::core::env!("CARGO_PKG_NAME"),
            tools: &[$($tool),+],
        };

        $crate::export_symbols!();
    };
}

/// Exports a plugin whose tools a manifest declares: the named type is an [`Interpreter`](crate::declared::Interpreter) of them.
///
/// As `plugin!`, it stands once in the root of a plugin and defines the symbols of the boundary and `PLUGIN`.
#[macro_export]
macro_rules! declared_plugin {
    ($interpreter:ty) => {
        /// The tools of this plugin, once a manifest has declared them.
        pub static PLUGIN: $crate::declared::DeclaredPlugin<$interpreter> =
            $crate::declared::DeclaredPlugin::new(::core::env!("CARGO_PKG_NAME"));

        $crate::export_symbols!();
    };
}

/// The symbols of the boundary, over a `PLUGIN` beside them.
#[doc(hidden)]
#[macro_export]
macro_rules! export_symbols {
    () => {
        #[unsafe(no_mangle)]
        extern "C" fn workbench_abi_version() -> u32 {
            $crate::abi::ABI_VERSION
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn workbench_call(
            host: *const $crate::abi::HostTable,
            data: *const u8,
            length: usize,
            out: *mut $crate::abi::Buffer,
        ) -> i32 {
            // SAFETY: the caller's promises are those that `call` asks for.
            unsafe { $crate::abi::call(&PLUGIN, host, data, length, out) }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn workbench_free(buffer: $crate::abi::Buffer) {
            // SAFETY: the caller's promises are those that `free` asks for.
            unsafe { $crate::abi::free(buffer) }
        }
    };
}
