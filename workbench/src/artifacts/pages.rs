//! Fills page templates with a tool's data.
//!
//! Data is hostile: records of an API, words of a model. So pages are escaped, a name that is not
//! in the data is an error, and the work a template may do is limited.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use minijinja::{Environment, ErrorKind, Value, value::Serde};

use crate::expression;
use crate::files;

/// Bytes of a page; as much as verify reads of one.
const MAX_PAGE: usize = 8 << 20;

/// Templates that every domain has.
const BUILT_IN: [(&str, &str); 2] = [
    ("gallery.html", include_str!("../../../templates/gallery.html")),
    ("team.html", include_str!("../../../templates/team.html")),
];

/// The page templates of a domain: the built-in ones, and those in its folder `templates/`, which
/// come first where names are equal. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pages {
    environment: Arc<Environment<'static>>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A template file cannot be read.
    #[error("the template {} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// A template is broken.
    #[error("the template {} is broken: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line and problem.
        message: String,
    },
    /// There is no such template.
    #[error("there is no template {name}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The template and the data do not fit together.
    #[error("the page {name} cannot be made: {message}")]
    Render {
        /// The template.
        name: String,
        /// Line and problem.
        message: String,
    },
}

impl Pages {
    /// The built-in templates, and every `*.html` in `own`, a domain's folder `templates/`, which
    /// need not exist. A broken template is an error here, before a run needs it.
    pub fn load(own: &Path) -> Result<Self, PageError> {
        let mut environment = strict_environment();
        for (name, source) in BUILT_IN {
            add(&mut environment, Path::new(name), source)?;
        }
        for path in html_files(own)? {
            let source = files::read_text(&path, files::LONGEST_TEXT)
                .map_err(|source| PageError::Read { path: path.clone(), source })?;
            add(&mut environment, &path, source)?;
        }
        Ok(Self { environment: Arc::new(environment) })
    }

    /// The page `template`, such as `gallery.html`, filled with `data`, a JSON object.
    pub fn render(&self, template: &str, data: &serde_json::Value) -> Result<String, PageError> {
        let page = self
            .environment
            .get_template(template)
            .map_err(|_| PageError::Unknown { name: template.to_owned(), known: self.names().join(", ") })?;
        let fault = |message| PageError::Render { name: template.to_owned(), message };
        let mut text = BoundedText::default();
        match page.render_captured_to(Value::from(Serde(data)), &mut text) {
            _ if text.is_full => Err(fault(format!("it is longer than {} MB", MAX_PAGE >> 20))),
            Ok(_) => String::from_utf8(text.bytes).map_err(|error| fault(error.to_string())),
            Err(error) => Err(fault(words(&error))),
        }
    }

    fn names(&self) -> Vec<&str> {
        let mut names = self.environment.templates().map(|(name, _)| name).collect::<Vec<_>>();
        names.sort_unstable();
        names
    }
}

/// A page while it is written.
#[derive(Default)]
struct BoundedText {
    bytes: Vec<u8>,
    is_full: bool,
}

impl io::Write for BoundedText {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + piece.len() > MAX_PAGE;
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn strict_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    expression::limit(&mut environment);
    environment.add_test("web_address", is_web_address);
    environment.add_filter("beside", beside);
    environment
}

fn add(
    environment: &mut Environment<'static>,
    path: &Path,
    source: impl Into<Cow<'static, str>>,
) -> Result<(), PageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    environment
        .add_template_owned(name, source)
        .map_err(|error| PageError::Syntax { path: path.to_owned(), message: words(&error) })
}

fn html_files(folder: &Path) -> Result<Vec<PathBuf>, PageError> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(PageError::Read { path: folder.to_owned(), source }),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "html")).collect())
}

/// `{% if url is web_address %}`: only these may stand in an `href`; escaping does not stop `javascript:`.
fn is_web_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// `{{ file|beside }}`: the name alone, so that a page refers to what stands beside it and nothing else.
fn beside(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn words(error: &minijinja::Error) -> String {
    let problem = match error.kind() {
        ErrorKind::OutOfFuel => "it takes too many steps".to_owned(),
        kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
    };
    match error.line() {
        Some(line) => format!("line {line}: {problem}"),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::Path;

    use scraper::{Html, Selector};
    use serde_json::json;
    use tempfile::TempDir;

    use super::Pages;

    fn built_in() -> Pages {
        Pages::load(Path::new("no such folder")).unwrap()
    }

    fn attributes(page: &str, select: &str, name: &str) -> Vec<String> {
        let select = Selector::parse(select).unwrap();
        let page = Html::parse_document(page);
        page.select(&select).filter_map(|element| element.attr(name).map(str::to_owned)).collect()
    }

    #[test]
    fn a_gallery_shows_each_piece_and_nothing_remote() {
        let piece = |image: &str, url: &str| {
            json!({
                "image": image, "object_id": 7, "title": "\"A\" <b>cat</b> & 猫", "artist": "Unknown artist",
                "date": "undated", "url": url, "credit": "<script>alert(1)</script>", "department": "Asian Art",
            })
        };
        let data = json!({"title": "Cats in the Met", "pieces": [
            piece("7.jpg", "https://www.example.org/7?a=1&b=\"2\""),
            piece("out/8.jpg", "javascript:alert(1)"),
            piece("https://example.org/9.jpg", ""),
        ]});
        let page = built_in().render("gallery.html", &data).unwrap();
        assert_eq!(attributes(&page, "figure img", "src"), ["7.jpg", "8.jpg", "9.jpg"]);
        assert_eq!(attributes(&page, "figure img", "alt"), ["\"A\" <b>cat</b> & 猫, Unknown artist"; 3]);
        assert_eq!(attributes(&page, "a", "href"), ["https://www.example.org/7?a=1&b=\"2\""]);
        assert_eq!(attributes(&page, "script, link, iframe", "src"), [""; 0]);
        assert!(page.contains("<title>Cats in the Met</title>") && page.contains("3 pieces"));
        assert!(!page.contains("<script") && !page.contains("<b>"));
    }

    #[test]
    fn a_team_shows_each_member_and_nothing_remote() {
        let hostile = "</style><script>alert(1)</script>";
        let member = |sprite: &str, types: &[&str], weaknesses: &[&str]| {
            json!({
                "sprite": sprite, "name": hostile, "number": 7, "types": types, "abilities": [hostile, "b"], "total": 300,
                "stats": [{"name": hostile, "value": 51, "percent": 20}], "weaknesses": weaknesses,
            })
        };
        let data = json!({"title": "\"Six\" <b>", "members": [
            member("a.png", &["water", hostile], &["grass", hostile]),
            member("https://example.org/b.png", &[], &[]),
        ]});
        let page = built_in().render("team.html", &data).unwrap();
        assert_eq!(attributes(&page, "figure img", "src"), ["a.png", "b.png"]);
        assert_eq!(attributes(&page, "figure img", "alt"), [hostile; 2]);
        assert_eq!(attributes(&page, ".bar i", "style"), ["width: 20%"; 2]);
        let [unknown, water, grass] = ["#5b6474", "#3f68c7", "#47862c"].map(|colour| format!("--type: {colour}"));
        assert_eq!(attributes(&page, ".types li", "style"), [water, unknown.clone(), grass, unknown]);
        assert_eq!(attributes(&page, "script, link, iframe, a", "src"), [""; 0]);
        assert!(page.contains("2 members") && page.contains("double damage from nothing"));
        assert!(!page.contains("<script") && !page.contains("<b>"));
    }

    /// A folder with one template.
    fn folder_with(template: &str, source: &str) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(template), source).unwrap();
        folder
    }

    /// What would take hours or gigabytes if it were let.
    const BLOW_UPS: &[&str] = &[
        "{% for a in words %}{% for b in words %}{% for c in words %}.{% endfor %}{% endfor %}{% endfor %}",
        "{% set s = namespace(t='x') %}{% for a in range(99) %}{% set s.t = s.t ~ s.t %}{% endfor %}{{ s.t }}",
        "{% macro again(n) %}{{ again(n + 1) }}{% endmacro %}{{ again(0) }}",
        "{% include 'blow-up-3.html' %}",
        "{{ 'x' * 3000000000 }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ text|replace('x', text) }}",
        "{{ text|replace('', text) }}",
        "{{ words|sum(start='')|length }}",
        "{{ words|tojson(indent=1000000) }}",
        "{{ 'a'|indent(1000000000) }}",
        "{{ words|batch(1000000000, 'x') }}",
        "{{ range(99999999)|length }}",
    ];

    #[test]
    fn a_page_that_cannot_be_made_says_where_and_why() {
        let endless = "{% for a in range(9999) %}{% for b in range(9999) %}.{% endfor %}{% endfor %}";
        let folder = folder_with("endless.html", endless);
        let long = "{% for a in range(999) %}{{ text }}{% endfor %}";
        fs::write(folder.path().join("long.html"), long).unwrap();
        let text = "x".repeat(10_000);
        for (number, blow_up) in BLOW_UPS.iter().enumerate() {
            fs::write(folder.path().join(format!("blow-up-{number}.html")), blow_up).unwrap();
        }
        let pages = Pages::load(folder.path()).unwrap();
        let data = json!({"text": "x".repeat(1 << 20), "words": vec!["word"; 50_000]});
        for (number, blow_up) in BLOW_UPS.iter().enumerate() {
            let error = pages.render(&format!("blow-up-{number}.html"), &data).unwrap_err().to_string();
            assert!(error.contains("cannot be made: line 1: "), "{blow_up}: {error}");
        }
        for (template, data, expected) in [
            ("nosuch.html", json!({}), "there is no template nosuch.html; there are: blow-up-0.html, "),
            ("../gallery.html", json!({}), "there is no template ../gallery.html; "),
            ("gallery.html", json!({"pieces": []}), "the page gallery.html cannot be made: line 11: "),
            ("long.html", json!({"text": text}), "the page long.html cannot be made: it is longer than 8 MB"),
            ("endless.html", json!({}), "the page endless.html cannot be made: line 1: it takes too many steps"),
        ] {
            let error = pages.render(template, &data).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn templates_of_a_domain_come_first_and_are_checked_at_once() {
        let folder = folder_with("gallery.html", "own: {{ title }}");
        fs::write(folder.path().join("notes.txt"), "{% broken").unwrap();
        let pages = Pages::load(folder.path()).unwrap();
        assert_eq!(pages.render("gallery.html", &json!({"title": "<cats>"})).unwrap(), "own: &lt;cats&gt;");

        let folder = folder_with("team.html", "fine\n{% for %}");
        let error = Pages::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("team.html is broken: line 2: "), "{error}");
    }
}
