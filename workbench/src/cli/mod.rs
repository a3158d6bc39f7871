//! The command line as types. What a command does with them stands in `commands/`.

pub mod budget_options;
mod check_options;
pub mod model_options;
mod new_options;
pub mod options;
mod sandbox_commands;
pub mod sandbox_options;
mod serve_options;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand};

use crate::model::provider::ModelChoice;

pub use self::check_options::{CheckArguments, DoctorArguments};
pub use self::new_options::NewArguments;
use self::options::{CallLimitOptions, Format, RunLimitOptions, RunOptions, ScriptLimitOptions, SourceOptions};
pub use self::sandbox_commands::{
    ProbeArguments, SandboxBuildArguments, SandboxCleanArguments, SandboxCommand, SandboxStatusArguments,
};
use self::sandbox_options::{SandboxChoice, SandboxOptions};
pub use self::serve_options::ServeArguments;

/// Measures, on one task and the same tools, what a model reads when it calls tools one step at a
/// time, and what it reads when it writes one script that calls them.
#[derive(Debug, Parser)]
#[command(name = "workbench", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  workbench compare met\n  workbench report met\n\nExit codes: 0 success, \
1 judged and found short, 2 usage or manifest, 3 plugin, 4 sandbox, 5 model or network, 70 bug, 130 interrupted.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Where runs are kept; without it `results/` of the workspace or of the current folder
    #[arg(long, global = true, env = crate::env::RESULTS, value_name = "FOLDER", value_parser = results_folder())]
    pub results: Option<PathBuf>,
}

/// A path, which need not be UTF-8.
fn results_folder() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text| match text.is_empty() {
        true => Err(format!("it is empty, here or in the environment variable `{}`", crate::env::RESULTS)),
        false => Ok(PathBuf::from(text)),
    })
}

/// The subcommands, in the order a newcomer meets them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the domains of this workspace, or of this folder where there is none
    #[command(after_help = "Example:\n  workbench list")]
    List(ListArguments),
    /// Print a prompt that asks any model for ideas of domains
    #[command(after_help = "Example:\n  workbench ideas")]
    Ideas,
    /// Make a domain that runs at once, to be turned into one's own
    #[command(after_help = "Examples:\n  workbench new trails\n  \
workbench new trails --rust --api https://api.example/v1\n\n\
In a workspace it becomes domains/NAME, and the crate of --rust plugins/NAME; elsewhere ./NAME has all of it.")]
    New(NewArguments),
    /// Show a domain (its task, rules and limits) or a run (turn by turn)
    #[command(after_help = "Examples:\n  workbench show met\n  workbench show 2026-11-29T15-30-00Z-code-1")]
    Show(ShowArguments),
    /// Show a domain's tools as a model gets them
    #[command(after_help = "Examples:\n  workbench tools met             JSON schemas, as in serial and loop\n  \
workbench tools met --python    the text code mode sees\n  \
workbench tools met --count     what they cost on every turn, in each mode")]
    Tools(ToolsArguments),
    /// Call one tool and print what a model would read
    #[command(after_help = "Examples:\n  workbench call met search_collection query=cat limit=5\n  \
workbench call met get_object '{\"object_id\": 9000003}'")]
    Call(CallArguments),
    /// Run one script in the sandbox by hand
    #[command(after_help = "Examples:\n  workbench script met domains/met/smoke.py --ledger\n  \
echo 'from tools import *; print(list_departments())' | workbench script met -")]
    Script(ScriptArguments),
    /// Fetch one address of a domain's API through the host's web client
    #[command(
        after_help = "Examples:\n  workbench fetch met /v1/departments\n  workbench fetch met '/v1/search?q=cat'"
    )]
    Fetch(FetchArguments),
    /// Try a domain without a model: its tools, its error texts, its whole task as one plain script
    #[command(after_help = "Example:\n  workbench smoke met")]
    Smoke(SmokeArguments),
    /// Check whether a domain is worth comparing: its tools, its API, the shape of its task, and whether its rules judge
    #[command(after_help = "Examples:\n  workbench check met\n  workbench check met --format json\n\n\
Exit codes: 0 nothing is short, 1 something is.")]
    Check(CheckArguments),
    /// Run a domain's task once, in one mode, and judge the result
    #[command(after_help = "Example:\n  workbench run met --mode code")]
    Run(RunArguments),
    /// Run a domain's task in several modes, several times each, and compare what the model read
    #[command(
        after_help = "Examples:\n  workbench compare met\n  workbench compare met --modes loop,code --runs 5 --jobs 2\n  \
workbench compare met --resume    the same command line goes on where it was cut off"
    )]
    Compare(CompareArguments),
    /// Judge a finished run again, from its files
    #[command(after_help = "Examples:\n  workbench verify 2026-11-29T15-30-00Z-code-1\n  \
workbench verify 2026-11-29T15-30-00Z-code-1 --again    what is missing is asked for")]
    Verify(VerifyArguments),
    /// Say again what the model of a run said, make its calls anew, and tell what differs from the record
    #[command(after_help = "Examples:\n  workbench replay 2026-11-29T15-30-00Z-code-1\n  \
workbench replay 2026-11-29T15-30-00Z-code-1 --rules workspace --keep\n\n\
Exit codes: 0 nothing differs, 1 something does, 5 something does after a fault that is not the run's.")]
    Replay(ReplayArguments),
    /// Show the runs of a domain, and the figures of each mode
    #[command(after_help = "Examples:\n  workbench report met\n  workbench report met --format json\n  \
workbench report met --last --five-lines")]
    Report(ReportArguments),
    /// Record a domain's API into its cassette, so that it runs offline
    #[command(
        after_help = "Examples:\n  workbench record met\n  workbench record met --urls paths.txt --to my-cassette\n  \
workbench record met --route collectionapi.metmuseum.org=http://127.0.0.1:8099\n  \
workbench record met --from 2026-11-29T15-30-00Z-code-1 --to my-copy"
    )]
    Record(RecordArguments),
    /// The sandbox `docker`: build its image, look at engine and image, remove what killed commands left
    #[command(subcommand)]
    #[command(after_help = "Examples:\n  workbench sandbox build     once, and after a new version said so\n  \
workbench sandbox status")]
    Sandbox(SandboxCommand),
    /// Try what a sandbox must stop, in the sandbox itself
    #[command(after_help = "Examples:\n  workbench probe\n  workbench probe --sandbox docker\n  \
workbench probe --sandbox docker --network open --url http://api.example/v1/health\n\n\
Exit codes: 0 all as expected, 1 a protection is missing, 4 the sandbox does not start.")]
    Probe(ProbeArguments),
    /// Serve the Messages API with programmatic tool calling on this machine
    #[command(
        after_help = "Examples:\n  workbench serve met\n  workbench serve --turns turns.json --as claude-haiku-5-5\n  \
workbench serve --model ollama:qwen3:8b\n\n\
Point any client at it: base URL http://127.0.0.1:8787, the key that is printed, the model's name."
    )]
    Serve(ServeArguments),
    /// Check this machine: toolchain, plugins, sandbox, results, keys; with `--model`, a provider's model
    #[command(after_help = "Examples:\n  workbench doctor\n  workbench doctor --model anthropic:claude-haiku-5-5")]
    Doctor(DoctorArguments),
}

/// `workbench list`
#[derive(Debug, Args)]
pub struct ListArguments {
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench show`
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A domain's name or folder, or a run's name or folder
    #[arg(value_name = "DOMAIN|RUN")]
    pub subject: String,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench tools`
#[derive(Debug, Args)]
pub struct ToolsArguments {
    /// A domain's name or folder
    pub domain: String,
    /// Only this tool
    pub tool: Option<String>,
    /// The Python text that code mode shows, instead of JSON schemas
    #[arg(long)]
    pub python: bool,
    /// The tools as mode hosted sends them to the Messages API, with who may call them, and the tool that runs code
    #[arg(long, conflicts_with = "python")]
    pub hosted: bool,
    /// The tokens of tools and system text in each mode, which a model reads on every turn
    #[arg(long, conflicts_with_all = ["tool", "python", "hosted"])]
    pub count: bool,
    /// Who counts: a provider's model; without it tokens are counted here, and marked `≈`
    #[arg(long, value_name = "MODEL", requires = "count")]
    pub model: Option<ModelChoice>,
    /// Another address of the model's API
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// How to print the count
    #[arg(long, default_value = "text", requires = "count")]
    pub format: Format,
}

/// `workbench call`
#[derive(Debug, Args)]
pub struct CallArguments {
    /// A domain's name or folder
    pub domain: String,
    /// The tool's name
    pub tool: String,
    /// Arguments as NAME=VALUE, or one JSON object
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the call
    #[command(flatten)]
    pub limits: CallLimitOptions,
}

/// `workbench script`
#[derive(Debug, Args)]
pub struct ScriptArguments {
    /// A domain's name or folder
    pub domain: String,
    /// A Python file, or `-` for standard input
    pub file: PathBuf,
    /// Print the ledger of its tool calls after the output, one JSON line a call
    #[arg(long)]
    pub ledger: bool,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// Where scripts run
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// What ends the script
    #[command(flatten)]
    pub limits: ScriptLimitOptions,
}

/// `workbench fetch`
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// A domain's name or folder
    pub domain: String,
    /// A path on the API's base, or a full address on one of its hosts
    pub path: String,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
}

/// `workbench smoke`
#[derive(Debug, Args)]
pub struct SmokeArguments {
    /// A domain's name or folder
    pub domain: String,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// Where scripts run
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// What ends the script
    #[command(flatten)]
    pub limits: ScriptLimitOptions,
}

/// `workbench run`
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A domain's name or folder
    pub domain: String,
    /// How the model calls tools: serial, loop, code or hosted
    #[arg(long, default_value = "code")]
    pub mode: crate::runner::Mode,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// How the run is made
    #[command(flatten)]
    pub options: RunOptions,
}

/// `workbench compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Domains' names or folders
    #[arg(required_unless_present = "all", value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// All domains that `list` shows and that have a task, for a rehearsal those that have one
    #[arg(long, conflicts_with = "domains")]
    pub all: bool,
    /// Modes of serial, loop, code and hosted, joined with commas; without it loop and code of a model that costs money,
    /// serial,loop,code of others
    #[arg(long, value_delimiter = ',')]
    pub modes: Vec<crate::runner::Mode>,
    /// Runs of each mode
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Runs under way at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub jobs: u32,
    /// Make one run of each mode in turn, so that what drifts with time meets all modes alike; `--interleave=false` makes
    /// all runs of a mode before the next
    #[arg(long, default_value_t = true, action = ArgAction::Set, value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true")]
    pub interleave: bool,
    /// Start no run any more once the comparison has cost this many US dollars; see `--max-cost` for a single run
    #[arg(long, value_name = "USD", value_parser = budget_options::dollars)]
    pub max_total_cost: Option<f64>,
    /// Go on with a comparison of these settings that was cut off, the newest or the one of this name: make the runs
    /// that are missing or unfinished, and report all
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true)]
    pub resume: Option<Option<String>>,
    /// Exit with 1 when a run of this mode was not verified; repeatable
    #[arg(long, value_name = "MODE")]
    pub require: Vec<crate::runner::Mode>,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// How the runs are made
    #[command(flatten)]
    pub options: RunOptions,
}

/// `workbench verify`
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// A run's name or folder
    pub run: String,
    /// Ask for missing answers of the API where the run got its data; the sources below do so, too
    #[arg(long)]
    pub again: bool,
    /// Whose rules judge: those kept with the run, or those of the workspace's domain
    #[arg(long, default_value = "run")]
    pub rules: options::Rules,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Where missing answers come from
    #[command(flatten)]
    pub source: SourceOptions,
}

/// `workbench replay`
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// A run's name or folder
    pub run: String,
    /// The domain whose tools are called; without it the workspace's domain of the run's name
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Option<String>,
    /// Whose rules judge: those kept with the run, or those of the domain
    #[arg(long, default_value = "run")]
    pub rules: options::Rules,
    /// A file of prices, for a run whose costs go by others than those built in
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Keep the replay as a run of the model `replay:RUN`; otherwise it is gone when the command ends
    #[arg(long)]
    pub keep: bool,
    /// Where scripts run; as in the run, unless it is given
    #[arg(long, value_name = "SANDBOX")]
    pub sandbox: Option<SandboxChoice>,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Where answers come from; as in the run, unless it is given
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the replay; as in the run, unless it is given
    #[command(flatten)]
    pub limits: RunLimitOptions,
}

/// `workbench report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Domains' names; without one, every domain that has runs
    #[arg(value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// Only runs with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Only the runs of the last command that made any
    #[arg(long)]
    pub last: bool,
    /// Exit with 1 when a run of this mode was not verified; repeatable
    #[arg(long, value_name = "MODE")]
    pub require: Vec<crate::runner::Mode>,
    /// The figures for five lines about a comparison, instead of its tables; what they mean is yours to write
    #[arg(long, conflicts_with = "format")]
    pub five_lines: bool,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench record`
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// A domain's name or folder
    pub domain: String,
    /// A file with one path or address a line, instead of running the domain's scripts
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,
    /// A run: its calls or scripts become the domain's rehearsal, and what was fetched for it is added to the
    /// cassette. Nothing is overwritten
    #[arg(long, value_name = "RUN", conflicts_with = "urls")]
    pub from: Option<String>,
    /// Folder of the cassette, instead of the domain's own; with `--from` a folder that gets `rehearsal/` and
    /// `cassette/`
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
    /// Send a host's requests elsewhere, to a mirror or a server of your own: HOST=URL; repeatable
    #[arg(long = "route", value_name = "HOST=URL")]
    pub routes: Vec<crate::web::Route>,
    /// What ends the scripts
    #[command(flatten)]
    pub limits: ScriptLimitOptions,
}
