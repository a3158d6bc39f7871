//! `plugin!`: the three symbols of a plugin, and no more; what they do is in `abi.rs`.

/// Exports the named tools as this library's plugin.
///
/// One of these stands in the root of a plugin. It defines the three symbols of [`abi`](crate::abi) and a
/// constant `PLUGIN`, through which [`FakeHost`](crate::testing::FakeHost) calls the tools. A name that the compiler
/// calls "a function item, not a type" lacks its `#[tool]`.
///
/// It works under `#![forbid(unsafe_code)]`: the compiler holds a crate's own text to that, not what
/// a macro of another crate expands to.
#[macro_export]
macro_rules! plugin {
    ($($tool:ty),+ $(,)?) => {
        /// The tools of this plugin.
        pub const PLUGIN: $crate::dispatch::Plugin = $crate::dispatch::Plugin {
            name: ::core::env!("CARGO_PKG_NAME"),
            tools: &[$($crate::dispatch::ToolEntry::of::<$tool>()),+],
        };

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
