//! What can be wrong with rules, and how the words of a selector are joined.

/// Why a rule is refused. The texts are Redis'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is no such command or category.
    #[error("Unknown command or category name in ACL")]
    Unknown,
    /// It is no rule.
    #[error("Syntax error")]
    Syntax,
    /// Every key is permitted already.
    #[error(
        "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have \
         any effect. Try 'resetkeys' to start with an empty list of patterns"
    )]
    AfterAllKeys,
    /// Every channel is permitted already.
    #[error(
        "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not \
         have any effect. Try 'resetchannels' to start with an empty list of channels"
    )]
    AfterAllChannels,
    /// The user does not have the password that was to be removed.
    #[error("The password you are trying to remove from the user does not exist")]
    NoSuchPassword,
    /// It is no SHA-256.
    #[error(
        "The password hash must be exactly 64 characters and contain only lowercase hexadecimal \
         characters"
    )]
    BadHash,
    /// The argument of a subcommand cannot be permitted by itself.
    #[error("Allowing first-arg of a subcommand is not supported")]
    ArgumentOfSubcommand,
}

/// The word at this index opens a selector that no later word closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmatchedParenthesis(pub usize);

/// Joins the words from one that begins with `(` to the one that ends with `)`: each rule is one
/// text then.
///
/// # Errors
/// A parenthesis is not closed.
pub fn merge_selectors<W: AsRef<[u8]>>(words: &[W]) -> Result<Vec<Vec<u8>>, UnmatchedParenthesis> {
    let mut merged: Vec<Vec<u8>> = Vec::with_capacity(words.len());
    let mut open: Option<(usize, Vec<u8>)> = None;
    for (index, word) in words.iter().map(AsRef::as_ref).enumerate() {
        let closes = word.ends_with(b")");
        match &mut open {
            None if word.starts_with(b"(") && !closes => open = Some((index, word.to_vec())),
            None => merged.push(word.to_vec()),
            Some((_, selector)) => {
                selector.push(b' ');
                selector.extend_from_slice(word);
                if closes {
                    merged.extend(open.take().map(|(_, selector)| selector));
                }
            }
        }
    }
    match open {
        Some((index, _)) => Err(UnmatchedParenthesis(index)),
        None => Ok(merged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_selector_are_joined() {
        let merged = merge_selectors(&["on", "(~a", "+get)", "(+set)", "(", ")"]).unwrap();
        let expected: [&[u8]; 4] = [b"on", b"(~a +get)", b"(+set)", b"( )"];
        assert_eq!(merged, expected);
        assert_eq!(merge_selectors(&["on", "(~a", "+get"]), Err(UnmatchedParenthesis(1)));
        assert_eq!(merge_selectors::<&str>(&[]), Ok(Vec::new()));
    }
}
