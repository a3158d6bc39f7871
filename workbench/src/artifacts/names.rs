//! Makes a file name of whatever a model wrote.

/// Bytes of a name before its extension; every file system takes that.
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
    let base = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = safe_letters(without_extension(base));
    let stem = match stem.as_str() {
        "" => "unnamed".to_owned(),
        device if DEVICES.contains(&device.to_lowercase().as_str()) => format!("{device}_file"),
        _ => stem,
    };
    format!("{stem}.{}", safe_extension(extension))
}

fn without_extension(base: &str) -> &str {
    match base.rsplit_once('.') {
        Some((stem, extension)) if is_extension(extension) => stem,
        _ => base,
    }
}

fn is_extension(text: &str) -> bool {
    (1..=MAX_EXTENSION).contains(&text.len()) && text.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Runs of other characters become one `_`; there is none at either end.
fn safe_letters(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
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
