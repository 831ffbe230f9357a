//! A place in a source where a fault can be switched on.

use std::ops::Range;

/// A fault at one place of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What results are stored under.
    pub name: String,
    /// Below `crates/sapwood/src`.
    pub file: String,
    /// What the fault replaces, in bytes: an expression, a whole statement with its semicolon, or nothing at the start of a statement.
    pub range: Range<usize>,
    /// What stands there instead.
    pub wrong: String,
}

/// The text of a source with switches, and where in it each of its sites has come to stand.
pub struct Instrumented {
    pub text: String,
    /// The number of a site, and its range in `text`.
    pub ranges: Vec<(usize, Range<usize>)>,
}

/// Put numbered sites, all of one source, into its text. They may contain each other.
///
/// # Panics
///
/// If two sites overlap and neither contains the other.
pub fn instrument(source: &str, sites: &[(usize, &Site)]) -> Instrumented {
    let mut ordered = sites.to_vec();
    // The outer of two comes first.
    ordered.sort_by_key(|(number, site)| (site.range.start, std::cmp::Reverse(site.range.end), *number));
    let mut out = Instrumented { text: String::with_capacity(source.len() * 2), ranges: Vec::new() };
    let mut open: Vec<(usize, usize, &str, usize)> = Vec::new();
    let mut at = 0;
    let close_until = |out: &mut Instrumented, open: &mut Vec<(usize, usize, &str, usize)>, at: &mut usize, until: usize| {
        while let Some(&(number, end, suffix, start)) = open.last().filter(|(_, end, ..)| *end <= until) {
            out.text.push_str(&source[*at..end]);
            out.text.push_str(suffix);
            out.ranges.push((number, start..out.text.len()));
            *at = end;
            open.pop();
        }
    };
    for (number, site) in ordered {
        close_until(&mut out, &mut open, &mut at, site.range.start);
        assert!(open.last().is_none_or(|(_, end, ..)| site.range.end <= *end), "{} overlaps another site", site.name);
        out.text.push_str(&source[at..site.range.start]);
        at = site.range.start;
        let start = out.text.len();
        let is_statement = site.range.is_empty() || source[site.range.clone()].ends_with(';');
        let (prefix, suffix) = if is_statement { ("", "}") } else { ("(", "})") };
        out.text.push_str(&format!("{prefix}if crate::switch::is({number}) {{ {} }} else {{ ", site.wrong));
        open.push((number, site.range.end, suffix, start));
    }
    close_until(&mut out, &mut open, &mut at, source.len());
    out.text.push_str(&source[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(range: Range<usize>, wrong: &str) -> Site {
        Site { name: wrong.into(), file: String::new(), range, wrong: wrong.into() }
    }

    #[test]
    fn sites_may_contain_each_other_and_share_a_range() {
        let source = "a + b; c";
        let (outer, inner, same) = (site(0..5, "a - b"), site(4..5, "d"), site(0..5, "a * b"));
        let text = instrument(source, &[(1, &inner), (2, &outer), (3, &same)]).text;
        let expected = "(if crate::switch::is(2) { a - b } else { (if crate::switch::is(3) { a * b } else { a + \
                        (if crate::switch::is(1) { d } else { b}) }) }); c";
        assert_eq!(text.split_whitespace().collect::<String>(), expected.split_whitespace().collect::<String>());
    }

    #[test]
    fn a_statement_keeps_its_semicolon() {
        let text = instrument("x(); y", &[(9, &site(0..4, ""))]).text;
        assert_eq!(text.split_whitespace().collect::<String>(), "ifcrate::switch::is(9){}else{x();}y");
    }

    /// The places reported are those of the switches, so that an error of the compiler can be traced to its fault.
    #[test]
    fn ranges_cover_the_switches() {
        let instrumented = instrument("a + b", &[(1, &site(0..1, "z"))]);
        let (number, range) = instrumented.ranges[0].clone();
        assert_eq!((number, instrumented.text[range].trim_end_matches(" + b")), (1, "(if crate::switch::is(1) { z } else { a})"));
    }
}
