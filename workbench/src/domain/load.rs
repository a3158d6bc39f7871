//! Finds a domain's folder and reads what is in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::text::{Step, Text};
use super::{MANIFEST, ManifestError, Problem, Workspace, lint, shape, workspace};
use crate::files;
use crate::nearest::{nearest, question};
use crate::printer::shell_word;

/// A domain that was found, read and checked.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its folder.
    pub folder: PathBuf,
    /// What a user can type to name it again: what was typed.
    pub reference: String,
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
    /// `rehearsal/hosted/1.py`, `2.py`, …, the cells of mode `hosted`, whose tools are coroutine functions.
    pub hosted_scripts: Vec<PathBuf>,
}

impl Domain {
    /// The domain of this name in the workspace, or the one in the folder of this path.
    ///
    /// # Errors
    /// When there is none, and as [`Domain::load`].
    pub fn find(name_or_path: &str, workspace: &Workspace) -> Result<Self, ManifestError> {
        let path = Path::new(name_or_path);
        let known = workspace.domains();
        let folder = if known.iter().any(|name| name == name_or_path) {
            workspace.domain_folder(name_or_path)
        } else if name_or_path.contains(['/', '\\', '.']) {
            let folder = if path.ends_with(MANIFEST) { path.parent().unwrap_or(path) } else { path };
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        } else if !name_or_path.is_empty() && is_there(&path.join(MANIFEST)) {
            path.to_owned()
        } else {
            return Err(unknown(name_or_path, workspace));
        };
        Ok(Self { reference: shell_word(name_or_path), ..Self::load(&folder)? })
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
                let message = format!("is `{}`, but the folder is `{name}`", manifest.domain.name);
                let mut problem = places.problem(&[Step::Key("domain"), Step::Key("name")], &message);
                problem.help("rename one of them");
                problems.push(problem);
            }
            if manifest.task.is_some() && prompt.is_none_or(|prompt| prompt.trim().is_empty()) {
                let mut problem = places.problem(&[Step::Key("task"), Step::Key("prompt")], "is missing or empty");
                problem.help("write `prompt = \"…\"` here, or a file `prompt.md` beside the manifest");
                problems.push(problem);
            }
            problems.extend(missing_templates(folder, manifest, places));
            problems
        })
    }

    /// Reads and checks the copy of a manifest that a run keeps: its folder has another name than the domain, and
    /// the domain's other files are not beside it.
    ///
    /// # Errors
    /// As [`Domain::load`].
    pub fn load_copy(folder: &Path) -> Result<Self, ManifestError> {
        let copy = Self::read(folder, |_, _, _| Vec::new())?;
        Ok(Self { reference: copy.name().to_owned(), ..copy })
    }

    /// Its own scripts: `smoke.py`, then those of the rehearsal.
    pub fn scripts(&self) -> impl Iterator<Item = &PathBuf> {
        let rehearsal =
            self.rehearsal.iter().flat_map(|scripts| scripts.loop_script.iter().chain(&scripts.code_scripts));
        self.smoke.iter().chain(rehearsal).chain(self.cells())
    }

    /// Those of its own scripts that are cells: their tools are coroutine functions, and each finds the names of those before it.
    pub fn cells(&self) -> impl Iterator<Item = &PathBuf> {
        self.rehearsal.iter().flat_map(|rehearsal| &rehearsal.hosted_scripts)
    }

    /// How a file of the domain is called in it: its path below the domain's folder.
    pub fn own(&self, file: &Path) -> String {
        file.strip_prefix(&self.folder).unwrap_or(file).display().to_string()
    }

    /// Reads the manifest and what is beside it; `problems_around` looks at how they fit together.
    fn read(
        folder: &Path,
        problems_around: impl FnOnce(&Manifest, Option<&str>, &Text<'_>) -> Vec<Problem>,
    ) -> Result<Self, ManifestError> {
        let path = folder.join(MANIFEST);
        let content = read(&path, files::read_bounded)?;
        let mut prompt = None;
        let (manifest, text) = parse(&path, &content, |manifest, places| {
            prompt = self::prompt(folder, manifest)?;
            Ok(problems_around(manifest, prompt.as_deref(), places))
        })?;
        Ok(Self {
            prompt,
            cassette: Some(folder.join("cassette")).filter(|path| is_there(path)),
            rehearsal: rehearsal(&folder.join("rehearsal")),
            smoke: Some(folder.join("smoke.py")).filter(|path| is_there(path)),
            folder: folder.to_owned(),
            reference: shell_word(&folder.to_string_lossy()),
            manifest,
            text,
        })
    }

    /// Short name, as in results and reports.
    pub fn name(&self) -> &str {
        &self.manifest.domain.name
    }
}

/// That there is no such domain, and which one was most likely meant: also one in the current folder.
fn unknown(name: &str, workspace: &Workspace) -> ManifestError {
    let (known, beside) = (workspace.all(), workspace::beside(Path::new(".")));
    let all: Vec<&String> = known.iter().chain(&beside).collect();
    let names = all.iter().map(|reference| reference.trim_start_matches("./"));
    let meant = nearest(name, names).and_then(|meant| all.iter().find(|it| it.trim_start_matches("./") == meant));
    let suggestion = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    ManifestError::Unknown { name: name.to_owned(), suggestion, known }
}

impl Manifest {
    /// Reads and checks a manifest without what is beside it.
    ///
    /// # Errors
    /// When it is wrong, as [`Domain::load`].
    pub fn check(content: &[u8]) -> Result<Self, ManifestError> {
        parse(Path::new(MANIFEST), content, |_, _| Ok(Vec::new())).map(|(manifest, _)| manifest)
    }
}

/// The manifest and its text, checked; `around` finds more problems in it, or a reason to stop.
fn parse(
    path: &Path,
    content: &[u8],
    around: impl FnOnce(&Manifest, &Text<'_>) -> Result<Vec<Problem>, ManifestError>,
) -> Result<(Manifest, String), ManifestError> {
    let text = tidy(&String::from_utf8_lossy(content));
    let invalid = |problems| ManifestError::Invalid { path: path.to_owned(), text: text.clone(), problems };
    if let Some(problem) = wrong_bytes(content) {
        return Err(invalid(vec![problem]));
    }
    let (manifest, places) = shape::parse(&text).map_err(invalid)?;
    let around = around(&manifest, &places)?;
    let mut problems = lint::problems(&manifest, &places);
    problems.extend(around);
    if !problems.is_empty() {
        problems.sort_by_key(|problem| problem.span.start);
        return Err(invalid(problems));
    }
    Ok((manifest, text))
}

fn folder_name(folder: &Path) -> Option<String> {
    fs::canonicalize(folder).ok()?.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn read<T>(path: &Path, read: impl Fn(&Path, u64) -> io::Result<T>) -> Result<T, ManifestError> {
    read(path, files::LONGEST_TEXT).map_err(|source| ManifestError::Unreadable { path: path.to_owned(), source })
}

/// Templates of declared pages that are not beside the manifest.
fn missing_templates(folder: &Path, manifest: &Manifest, places: &Text<'_>) -> Vec<Problem> {
    let templates = folder.join("templates");
    let pages = manifest.tool.iter().enumerate().filter_map(|(index, tool)| Some((index, tool.page.as_ref()?)));
    let missing =
        pages.filter(|(_, page)| !page.template.contains(['/', '\\']) && !is_there(&templates.join(&page.template)));
    missing
        .map(|(index, page)| {
            let at = [Step::Key("tool"), Step::Index(index), Step::Key("page"), Step::Key("template")];
            let mut problem =
                places.problem(&at, &format!("there is no `templates/{}` beside the manifest", page.template));
            let there = fs::read_dir(&templates).into_iter().flatten().flatten();
            let names: Vec<String> = there.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            let meant = question(&page.template, names.iter().map(String::as_str));
            problem.help(meant.unwrap_or_else(|| "write the template there, in the language of minijinja".to_owned()));
            problem
        })
        .collect()
}

/// Whether there is anything of this name. What it should be shows when it is read: a pipe in the place of a file is
/// no reason to go on as if nothing were there.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// A problem with the first byte that is no UTF-8.
fn wrong_bytes(content: &[u8]) -> Option<Problem> {
    let valid = content.utf8_chunks().next().filter(|chunk| !chunk.invalid().is_empty())?.valid();
    let start = tidy(valid).len();
    let mut problem = Problem::new(start..start + char::REPLACEMENT_CHARACTER.len_utf8(), "this is not UTF-8");
    problem.help("save the file as UTF-8");
    Some(problem)
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
        None if is_there(&file) => read(&file, files::read_text).map(|text| Some(tidy(&text))),
        None => Ok(None),
    }
}

fn rehearsal(folder: &Path) -> Option<Rehearsal> {
    let loop_script = Some(folder.join("loop.py")).filter(|path| is_there(path));
    let numbered = |name: &str| -> Vec<PathBuf> {
        let files = (1..).map(|number| folder.join(name).join(format!("{number}.py")));
        files.take_while(|path| is_there(path)).collect()
    };
    let (code_scripts, hosted_scripts) = (numbered("code"), numbered("hosted"));
    let has_any = loop_script.is_some() || !code_scripts.is_empty() || !hosted_scripts.is_empty();
    has_any.then_some(Rehearsal { loop_script, code_scripts, hosted_scripts })
}
