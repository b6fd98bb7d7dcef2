//! The common name of a certificate's subject.
//!
//! ```text
//! Certificate     30 { TBSCertificate, algorithm, signature }
//! TBSCertificate  30 { [A0 version] serial algorithm issuer validity subject … }
//! subject         30 { 31 { 30 { 06 OID, value } … } … }
//! ```
//! Only certificates that rustls has verified are looked at (X.690, DER; RFC 5280, section 4.1).

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
const VERSION: u8 = 0xa0;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;
/// 2.5.4.3, `id-at-commonName`.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// What stands between the serial number and the subject: algorithm, issuer, validity.
const BEFORE_SUBJECT: usize = 3;

/// The first common name of the subject of a certificate in DER; `None` if there is none that is
/// plain text. One with a control character is none: it may be shown shorter than it is.
pub fn common_name(certificate: &[u8]) -> Option<String> {
    let mut outer = certificate;
    let mut body = value(&mut outer, SEQUENCE)?;
    let mut fields = value(&mut body, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        element(&mut fields)?;
    }
    element(&mut fields)?; // Its serial number.
    for _ in 0..BEFORE_SUBJECT {
        value(&mut fields, SEQUENCE)?;
    }
    let mut subject = value(&mut fields, SEQUENCE)?;
    while !subject.is_empty() {
        let mut set = value(&mut subject, SET)?;
        while !set.is_empty() {
            let mut attribute = value(&mut set, SEQUENCE)?;
            if value(&mut attribute, OBJECT_IDENTIFIER)? == COMMON_NAME {
                return text(element(&mut attribute)?);
            }
        }
    }
    None
}

fn text((tag, bytes): (u8, &[u8])) -> Option<String> {
    if !matches!(tag, UTF8_STRING | PRINTABLE_STRING | IA5_STRING) {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let is_plain = !text.is_empty() && !text.chars().any(char::is_control);
    is_plain.then(|| text.to_owned())
}

/// Takes the next element, which must have this tag; returns what is in it.
fn value<'a>(from: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (found, value) = element(from)?;
    (found == tag).then_some(value)
}

/// Takes the next element: its tag, and what is in it.
fn element<'a>(from: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&[tag, first], mut rest) = from.split_first_chunk::<2>()?;
    let length = match first {
        ..=0x7f => usize::from(first),
        // One to four bytes of length follow; an indefinite one is not DER.
        0x81..=0x84 => {
            let (bytes, behind) = rest.split_at_checked(usize::from(first & 0x7f))?;
            rest = behind;
            bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte))
        }
        _ => return None,
    };
    let (value, behind) = rest.split_at_checked(length)?;
    *from = behind;
    Some((tag, value))
}

#[cfg(test)]
mod tests {
    use super::common_name;
    use proptest::prelude::*;
    use rcgen::{CertificateParams, DnType, KeyPair};

    fn certificate(subject: &[(DnType, &str)]) -> Vec<u8> {
        let mut params = CertificateParams::new(["alt.example".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in subject {
            params.distinguished_name.push(kind.clone(), *value);
        }
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_common_name_is_found_wherever_it_stands() {
        let long = "n".repeat(300);
        for name in ["alice", "Zoë", "a b,c=d", &long] {
            let organised = [
                (DnType::OrganizationName, "commonName"),
                (DnType::CommonName, name),
                (DnType::CountryName, "DE"),
            ];
            assert_eq!(common_name(&certificate(&organised)).as_deref(), Some(name));
            assert_eq!(common_name(&certificate(&organised[1..2])).as_deref(), Some(name));
        }
        assert_eq!(common_name(&certificate(&[(DnType::OrganizationName, "x")])), None);
        assert_eq!(common_name(&certificate(&[])), None);
    }

    #[test]
    fn a_name_that_may_be_shown_shorter_is_none() {
        for name in ["root\0.example", "a\nb", ""] {
            assert_eq!(common_name(&certificate(&[(DnType::CommonName, name)])), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = common_name(&bytes);
        }

        #[test]
        fn no_change_of_a_certificate_panics(at in 0usize..400, byte in any::<u8>(), cut in 0usize..400) {
            let mut bytes = certificate(&[(DnType::CommonName, "alice")]);
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = common_name(&bytes);
            bytes.truncate(cut);
            let _ = common_name(&bytes);
        }
    }
}
