//! Makes a file name of whatever a model wrote.

use unicode_normalization::UnicodeNormalization as _;

/// Bytes of a name before its extension; every file system takes that, and a number behind it.
const MAX_STEM: usize = 100;

/// Longest thing behind a dot that counts as an extension to be replaced.
const MAX_EXTENSION: usize = 5;

/// Names that Windows keeps for devices, whatever their extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The name a file gets in `out/`: the last part of `name`, of letters, digits, `-` and `_` only,
/// with `extension` in place of its own. Never empty, hidden or longer than a file system takes;
/// a name made by this function stays as it is.
///
/// ```
/// use workbench::artifacts::safe_file_name;
///
/// assert_eq!(safe_file_name("../../etc/Cats in the Met.png", "html"), "Cats_in_the_Met.html");
/// ```
pub fn safe_file_name(name: &str, extension: &str) -> String {
    let extension = safe_extension(extension);
    let stem = safe_letters(without_extension(last_part(name), &extension));
    let stem = match stem.as_str() {
        "" => "unnamed".to_owned(),
        device if is_device(device) => format!("{device}_file"),
        _ => stem,
    };
    format!("{stem}.{extension}")
}

/// What tells one name from another: its last part as it was written, without the extension that is given anyway.
/// `out/7.jpg`, `7.jpg` and `7` are one name of a picture saved as `jpg`; `7.png` is another.
pub(super) fn given_name(name: &str, extension: &str) -> String {
    let base = last_part(name);
    let given = match base.rsplit_once('.') {
        Some((stem, own)) if own.eq_ignore_ascii_case(&safe_extension(extension)) => stem,
        _ => base,
    };
    given.nfc().collect()
}

/// The name of the file that stands beside `file` because that one has another's content: `x-2.jpg` beside `x.jpg`.
pub(super) fn numbered(file: &str, number: usize) -> String {
    match file.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}-{number}.{extension}"),
        None => format!("{file}-{number}"),
    }
}

/// A form in which two names are equal when a file system may take them for one: some look neither at case nor at how
/// an accent is written.
pub(super) fn folded(file: &str) -> String {
    // Upper case first: `ß` and `ss` are one there.
    file.to_uppercase().to_lowercase().nfc().collect()
}

fn last_part(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn without_extension<'a>(base: &'a str, given: &str) -> &'a str {
    match base.rsplit_once('.') {
        Some((stem, own)) if is_extension(own) || own.eq_ignore_ascii_case(given) => stem,
        _ => base,
    }
}

/// Letters alone: in `Figure.1` and `Figure.2`, what stands behind the dot is the name.
fn is_extension(text: &str) -> bool {
    (1..=MAX_EXTENSION).contains(&text.len()) && text.chars().all(|letter| letter.is_ascii_alphabetic())
}

/// Windows takes a raised digit for a plain one.
fn is_device(stem: &str) -> bool {
    let plain: String = stem.to_lowercase().nfkc().collect();
    DEVICES.contains(&plain.as_str())
}

/// Runs of other characters become one `_`; there is none at either end.
fn safe_letters(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.nfc() {
        let kept = if letter.is_alphanumeric() || letter == '-' { letter } else { '_' };
        if safe.len() + kept.len_utf8() > MAX_STEM {
            break;
        }
        if kept != '_' || !safe.ends_with('_') {
            safe.push(kept);
        }
    }
    safe.trim_matches(['_', '-']).to_owned()
}

fn safe_extension(extension: &str) -> String {
    let letters = extension.chars().filter(char::is_ascii_alphanumeric).take(MAX_EXTENSION);
    let safe = letters.collect::<String>().to_lowercase();
    if safe.is_empty() { "bin".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::safe_file_name;

    #[test]
    fn whatever_a_model_writes_becomes_a_plain_name() {
        let long = "x".repeat(5000);
        let cut = format!("{}.jpg", "x".repeat(100));
        let wide = "猫".repeat(5000);
        let wide_cut = format!("{}.jpg", "猫".repeat(33));
        for (name, expected) in [
            ("436535", "436535.jpg"),
            ("436535.jpg", "436535.jpg"),
            ("436535.PNG", "436535.jpg"),
            ("out/436535.jpg", "436535.jpg"),
            ("contact_sheet", "contact_sheet.jpg"),
            ("../../x", "x.jpg"),
            ("/etc/passwd", "passwd.jpg"),
            (r"C:\Windows\win.ini", "win.jpg"),
            ("", "unnamed.jpg"),
            (".", "unnamed.jpg"),
            ("..", "unnamed.jpg"),
            ("out/", "unnamed.jpg"),
            (".htaccess", "htaccess.jpg"),
            (".jpg", "unnamed.jpg"),
            ("-rf", "rf.jpg"),
            ("a\0b", "a_b.jpg"),
            ("a\nb\u{202e}gpj.exe", "a_b_gpj.jpg"),
            ("page.html.exe", "page_html.jpg"),
            ("Cats vs. Dogs", "Cats_vs_Dogs.jpg"),
            ("<script>alert(1)</script>", "script.jpg"),
            ("CON", "CON_file.jpg"),
            ("nul.txt", "nul_file.jpg"),
            ("Com1", "Com1_file.jpg"),
            ("console", "console.jpg"),
            ("Möwe 猫", "Möwe_猫.jpg"),
            ("~root", "root.jpg"),
            ("Figure.1", "Figure_1.jpg"),
            ("name. . .", "name.jpg"),
            ("%2e%2e%2fx", "2e_2e_2fx.jpg"),
            ("NUL.", "NUL_file.jpg"),
            ("LPT1.jpg", "LPT1_file.jpg"),
            ("com\u{b9}", "com\u{b9}_file.jpg"),
            ("e\u{301}te\u{301}", "\u{e9}t\u{e9}.jpg"),
            ("\u{212b}", "\u{c5}.jpg"),
            ("\u{1f408} cat \u{1f600}", "cat.jpg"),
            ("\u{1f408}", "unnamed.jpg"),
            ("run.json", "run.jpg"),
            (".saving-x", "saving-x.jpg"),
            ("a\u{7f}\u{85}\u{2028}b", "a_b.jpg"),
            ("file:stream", "file_stream.jpg"),
            (long.as_str(), cut.as_str()),
            (wide.as_str(), wide_cut.as_str()),
        ] {
            let safe = safe_file_name(name, "jpg");
            assert_eq!(safe, expected, "{name:?}");
            assert_eq!(safe_file_name(&safe, "jpg"), safe, "{name:?} again");
        }
    }

    #[test]
    fn the_extension_is_the_plugins_and_made_safe_too() {
        for (extension, expected) in [
            ("html", "x.html"),
            (".HTML", "x.html"),
            ("", "x.bin"),
            ("../jpg", "x.jpg"),
            ("a/b\0c", "x.abc"),
            ("tar.gz and more", "x.targz"),
        ] {
            assert_eq!(safe_file_name("x", extension), expected, "{extension:?}");
        }
    }
}
