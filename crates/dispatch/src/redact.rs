//! Keeps passwords out of the slow log.

use basalt_call::entry::Secrets;
use basalt_config::OptionId;

/// What stands in a secret's place.
const REDACTED: &[u8] = b"(redacted)";

/// The words of a call, secrets replaced.
#[cold]
pub(crate) fn redact<'a>(
    secrets: Secrets,
    words: impl ExactSizeIterator<Item = &'a [u8]>,
) -> Vec<&'a [u8]> {
    let mut words: Vec<&[u8]> = words.collect();
    match secrets {
        Secrets::AllWords => words[1..].fill(REDACTED),
        Secrets::AfterSubcommand => words.iter_mut().skip(2).for_each(|word| *word = REDACTED),
        Secrets::AfterAuth => {
            let is_auth = |word: &&[u8]| {
                word.eq_ignore_ascii_case(b"auth") || word.eq_ignore_ascii_case(b"auth2")
            };
            if let Some(at) = words.iter().position(is_auth) {
                words.iter_mut().skip(at + 1).take(2).for_each(|word| *word = REDACTED);
            }
        }
        Secrets::OptionValues => {
            for pair in words[2..].chunks_mut(2) {
                if let [name, value] = pair
                    && is_secret(name)
                {
                    *value = REDACTED;
                }
            }
        }
        Secrets::None => {}
    }
    words
}

fn is_secret(option: &[u8]) -> bool {
    let id = std::str::from_utf8(option).ok().and_then(OptionId::find);
    id.is_some_and(|id| id.spec().is_secret())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_replaced_and_nothing_else() {
        let of = |secrets, line: &str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            String::from_utf8(redact(secrets, words.into_iter()).join(&b' ')).expect("text")
        };
        assert_eq!(of(Secrets::AllWords, "AUTH secret"), "AUTH (redacted)");
        assert_eq!(of(Secrets::AllWords, "AUTH me secret"), "AUTH (redacted) (redacted)");
        assert_eq!(
            of(Secrets::AfterAuth, "HELLO 3 auth me secret SETNAME x"),
            "HELLO 3 auth (redacted) (redacted) SETNAME x"
        );
        assert_eq!(
            of(Secrets::OptionValues, "CONFIG SET maxmemory 1 RequirePass secret"),
            "CONFIG SET maxmemory 1 RequirePass (redacted)"
        );
        assert_eq!(of(Secrets::None, "SET auth secret"), "SET auth secret");
    }
}
