//! The museum's texts as plain text: titles hold HTML and line breaks.

/// `text` without tags, with its entities decoded, in one line.
pub(crate) fn plain(text: &str) -> String {
    let decoded = decode_entities(&without_tags(text));
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Only what looks like a tag goes: `a < b` stays. A line break separates words, other tags do not.
fn without_tags(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let inside = &rest[start + 1..];
        let is_tag = inside.trim_start_matches('/').starts_with(|letter: char| letter.is_ascii_alphabetic());
        kept.push_str(&rest[..start]);
        match inside.find('>').filter(|_| is_tag) {
            Some(end) => {
                if inside[..end].to_ascii_lowercase().starts_with("br") {
                    kept.push(' ');
                }
                rest = &inside[end + 1..];
            }
            None => {
                kept.push('<');
                rest = inside;
            }
        }
    }
    kept + rest
}

fn decode_entities(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        let inside = &rest[start + 1..];
        decoded.push_str(&rest[..start]);
        match inside.find(';').and_then(|end| Some((entity(&inside[..end])?, end))) {
            Some((letter, end)) => {
                decoded.push(letter);
                rest = &inside[end + 1..];
            }
            None => {
                decoded.push('&');
                rest = inside;
            }
        }
    }
    decoded + rest
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
        return u32::from_str_radix(number, 16).ok().and_then(char::from_u32);
    }
    if let Some(number) = name.strip_prefix('#') {
        return number.parse().ok().and_then(char::from_u32);
    }
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn museum_texts_become_one_plain_line() {
        let cases = [
            ("<i>Tsuba</i>", "Tsuba"),
            ("Cat and <em class=\"x\">Spool</em>", "Cat and Spool"),
            ("One<br>Two<BR/>Three", "One Two Three"),
            ("Head\r\n  of a cat\n", "Head of a cat"),
            ("Tom &amp; &quot;Tib&quot;, &#39;c.&#x27; 1900&nbsp;&lt;?&gt;", "Tom & \"Tib\", 'c.' 1900 <?>"),
            ("&lt;i&gt; is a tag", "<i> is a tag"),
            ("5 < 6 & 7 > 6; R&D; <3", "5 < 6 & 7 > 6; R&D; <3"),
            ("an open <i", "an open <i"),
            ("猫と<i>鼠</i>", "猫と鼠"),
            ("&#x110000; &#bogus; &;", "&#x110000; &#bogus; &;"),
            (" ", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected);
        }
    }
}
