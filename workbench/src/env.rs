//! Every environment variable the program reads or sets, with its meaning.

/// Set by the host on its own children; the hidden worker subcommands refuse to start without it.
pub const WORKER_GUARD: &str = "WORKBENCH_WORKER_GUARD";

/// Settings of glibc's allocator, set by the host for its workers; other systems know none of that name.
pub const ALLOCATOR: &str = "GLIBC_TUNABLES";

/// Routes as `HOST=URL`, several joined with commas; `--route` adds to them, and wins for a host that both name.
pub const ROUTES: &str = "WORKBENCH_ROUTES";

/// Where the results go, instead of `results/` of the workspace or of the current folder.
pub const RESULTS: &str = "WORKBENCH_RESULTS";

/// Which `cargo` builds plugins; cargo sets it for the programs it runs.
pub const CARGO: &str = "CARGO";

/// Where requests over http go through a proxy: the first that is set. The HTTP client reads them, and `NO_PROXY`.
pub const HTTP_PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// As [`HTTP_PROXIES`], for requests over https.
pub const HTTPS_PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Secrets of model providers. Read by the host alone: no child gets them, not even the build of a plugin.
pub const KEYS: [&str; 6] = [ANTHROPIC_KEY, OPENAI_KEY, OPENROUTER_KEY, OLLAMA_KEY, LLAMACPP_KEY, VLLM_KEY];

/// The key of the Anthropic API.
pub const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";

/// Another address of the Anthropic API; `--base-url` wins.
pub const ANTHROPIC_BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// The keys that `serve` lets in, joined with commas; without it, and without `--token`, it makes one.
pub const SERVE_TOKEN: &str = "WORKBENCH_SERVE_TOKEN";

/// The key of the OpenAI API, and of what `--base-url` names in its place.
pub const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// Another address of the OpenAI API; `--base-url` wins.
pub const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";

/// The key of OpenRouter.
pub const OPENROUTER_KEY: &str = "OPENROUTER_API_KEY";

/// A key for an Ollama behind a gateway that wants one; a local one wants none.
pub const OLLAMA_KEY: &str = "OLLAMA_API_KEY";

/// A key for a llama.cpp server that was started with `--api-key`.
pub const LLAMACPP_KEY: &str = "LLAMA_API_KEY";

/// A key for a vLLM that was started with `--api-key`.
pub const VLLM_KEY: &str = "VLLM_API_KEY";

/// Where the container engine is, as for the docker command line: an address, which wins over every context.
pub const DOCKER_HOST: &str = "DOCKER_HOST";

/// A context of the docker command line, which says where the engine is.
pub const DOCKER_CONTEXT: &str = "DOCKER_CONTEXT";

/// The folder of the docker command line's settings, instead of `.docker` of the user's home.
pub const DOCKER_CONFIG: &str = "DOCKER_CONFIG";

/// Set: the engine of [`DOCKER_HOST`] is spoken to with TLS, and its certificate is checked.
pub const DOCKER_TLS_VERIFY: &str = "DOCKER_TLS_VERIFY";

/// As [`DOCKER_TLS_VERIFY`]: TLS without a check of the certificate is not spoken.
pub const DOCKER_TLS: &str = "DOCKER_TLS";

/// The folder of `ca.pem`, `cert.pem` and `key.pem`, instead of that of the settings.
pub const DOCKER_CERT_PATH: &str = "DOCKER_CERT_PATH";

/// Where engines that run without root have their sockets.
pub const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";

/// The user's folder for what can be made again, instead of `.cache` of the home folder.
pub const CACHE_FOLDER: &str = "XDG_CACHE_HOME";
