//! Finds a domain's folder and reads what is in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::text::{self, Step, Text};
use super::{MANIFEST, ManifestError, Problem, Workspace, lint};
use crate::files::read_regular;
use crate::nearest::suggestion;

/// Bytes of a manifest or of a prompt.
const MAX_TEXT: u64 = 8 << 20;

/// A domain that was found, read and checked.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its folder.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// The text of the manifest as it was read.
    pub text: String,
    /// What the model is asked to do; nothing when the domain has no task.
    pub prompt: Option<String>,
    /// The folder of recorded answers, when it has one.
    pub cassette: Option<PathBuf>,
    /// The scripts that stand in for a model, when it has any.
    pub rehearsal: Option<Rehearsal>,
    /// The script of `smoke`, when it has one.
    pub smoke: Option<PathBuf>,
}

/// Scripts that stand in for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsal {
    /// `rehearsal/loop.py`, the policy of the modes that call tools one by one.
    pub loop_script: Option<PathBuf>,
    /// `rehearsal/code/1.py`, `2.py`, …, handed over in this order.
    pub code_scripts: Vec<PathBuf>,
}

impl Domain {
    /// The domain of this name in the workspace, or the one in the folder of this path.
    ///
    /// # Errors
    /// When there is none, and as [`Domain::load`].
    pub fn find(name_or_path: &str, workspace: &Workspace) -> Result<Self, ManifestError> {
        let path = Path::new(name_or_path);
        let folder = if name_or_path.contains(['/', '\\', '.']) {
            if path.ends_with(MANIFEST) { path.parent().unwrap_or(path).to_owned() } else { path.to_owned() }
        } else {
            let known = workspace.domains();
            if known.iter().any(|name| name == name_or_path) {
                workspace.domain_folder(name_or_path)
            } else if path.join(MANIFEST).is_file() {
                path.to_owned()
            } else {
                let suggestion = suggestion(name_or_path, known.iter().map(String::as_str));
                return Err(ManifestError::Unknown { name: name_or_path.to_owned(), suggestion, known });
            }
        };
        Self::load(&folder)
    }

    /// Reads and checks the domain in `folder`.
    ///
    /// # Errors
    /// When a file cannot be read, and when the manifest is wrong: with every problem that could be
    /// found, file, line and nearest known name.
    pub fn load(folder: &Path) -> Result<Self, ManifestError> {
        Self::read(folder, |manifest, prompt, places| {
            let mut problems = Vec::new();
            if let Some(name) = folder_name(folder)
                && name != manifest.domain.name
            {
                // Two domains of one name would share a folder of results.
                let message = format!("is `{}`, but the folder is `{name}`: rename one", manifest.domain.name);
                problems.push(places.problem(&[Step::Key("domain"), Step::Key("name")], &message));
            }
            if manifest.task.is_some() && prompt.is_none_or(|prompt| prompt.trim().is_empty()) {
                let message = "is missing: write `prompt = \"…\"` here, or a file `prompt.md` beside the manifest";
                problems.push(places.problem(&[Step::Key("task"), Step::Key("prompt")], message));
            }
            problems
        })
    }

    /// Reads and checks the copy of a manifest that a run keeps: its folder has another name than the domain, and
    /// the domain's other files are not beside it.
    ///
    /// # Errors
    /// As [`Domain::load`].
    pub fn load_copy(folder: &Path) -> Result<Self, ManifestError> {
        Self::read(folder, |_, _, _| Vec::new())
    }

    /// Reads the manifest and what is beside it; `problems_around` looks at how they fit together.
    fn read(
        folder: &Path,
        problems_around: impl FnOnce(&Manifest, Option<&str>, &Text<'_>) -> Vec<Problem>,
    ) -> Result<Self, ManifestError> {
        let path = folder.join(MANIFEST);
        let text = tidy(&read(&path)?);
        let invalid = |problems| ManifestError::Invalid { path: path.clone(), text: text.clone(), problems };
        let (manifest, places) = text::parse(&text).map_err(|problem| invalid(vec![problem]))?;
        let prompt = prompt(folder, &manifest)?;

        let mut problems = lint::problems(&manifest, &places);
        problems.extend(problems_around(&manifest, prompt.as_deref(), &places));
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.span.start);
            return Err(invalid(problems));
        }
        Ok(Self {
            prompt,
            cassette: Some(folder.join("cassette")).filter(|path| path.join("index.jsonl").is_file()),
            rehearsal: rehearsal(&folder.join("rehearsal")),
            smoke: Some(folder.join("smoke.py")).filter(|path| path.is_file()),
            folder: folder.to_owned(),
            manifest,
            text,
        })
    }

    /// Short name, as in results and reports.
    pub fn name(&self) -> &str {
        &self.manifest.domain.name
    }
}

fn folder_name(folder: &Path) -> Option<String> {
    fs::canonicalize(folder).ok()?.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// A link may lead to the file; what it is must be a text of bounded length, since runs bring manifests along.
fn read(path: &Path) -> Result<String, ManifestError> {
    let text = || {
        let bytes = read_regular(&fs::canonicalize(path)?, MAX_TEXT)?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    };
    text().map_err(|source| ManifestError::Unreadable { path: path.to_owned(), source })
}

/// Editors on Windows leave a byte order mark and carriage returns; neither is meant.
fn tidy(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

fn prompt(folder: &Path, manifest: &Manifest) -> Result<Option<String>, ManifestError> {
    let Some(task) = &manifest.task else { return Ok(None) };
    let file = folder.join("prompt.md");
    match &task.prompt {
        Some(prompt) => Ok(Some(prompt.clone())),
        None if file.is_file() => read(&file).map(|text| Some(tidy(&text))),
        None => Ok(None),
    }
}

fn rehearsal(folder: &Path) -> Option<Rehearsal> {
    let loop_script = Some(folder.join("loop.py")).filter(|path| path.is_file());
    let code_scripts: Vec<PathBuf> = (1..)
        .map(|number| folder.join("code").join(format!("{number}.py")))
        .take_while(|path| path.is_file())
        .collect();
    (loop_script.is_some() || !code_scripts.is_empty()).then_some(Rehearsal { loop_script, code_scripts })
}
