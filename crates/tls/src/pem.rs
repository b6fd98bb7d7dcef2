//! Certificates and keys in files in PEM.

use crate::error::TlsError;
use pkcs8::EncryptedPrivateKeyInfo;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A bundle of all public authorities has some 250 KiB.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Files that are read of a directory.
const FILES_MAX: usize = 4096;

const ENCRYPTED_BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
const ENCRYPTED_END: &str = "-----END ENCRYPTED PRIVATE KEY-----";
/// How OpenSSL once wrote encrypted keys, by a digest that is broken.
const OLD_ENCRYPTION: &str = "Proc-Type: 4,ENCRYPTED";

/// A file that an option names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) option: &'static str,
    pub(crate) path: &'a Path,
}

impl Named<'_> {
    fn read(self) -> Result<Vec<u8>, TlsError> {
        let mut bytes = Vec::new();
        let read = File::open(self.path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
        let error = |error| {
            let Named { option, path } = self;
            TlsError::Unreadable { option, path: path.to_owned(), error }
        };
        match read {
            Ok(count) if count as u64 > FILE_BYTES_MAX => {
                Err(error(io::Error::other("the file is too large")))
            }
            Ok(_) => Ok(bytes),
            Err(cause) => Err(error(cause)),
        }
    }

    pub(crate) fn wrong(self, reason: impl Into<String>) -> TlsError {
        let Named { option, path } = self;
        TlsError::File { option, path: path.to_owned(), reason: reason.into() }
    }
}

/// The certificates of a file, at least one.
pub(crate) fn certificates(file: Named<'_>) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = file.read()?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match all {
        Ok(all) if all.is_empty() => Err(file.wrong("holds no certificate in PEM")),
        Ok(all) => Ok(all),
        Err(error) => Err(file.wrong(format!("is no PEM: {error}"))),
    }
}

/// The key of a file, decrypted by `password` if it is encrypted.
pub(crate) fn key(
    file: Named<'_>,
    password: Option<&[u8]>,
) -> Result<PrivateKeyDer<'static>, TlsError> {
    let bytes = file.read()?;
    let text = String::from_utf8_lossy(&bytes);
    if text.contains(OLD_ENCRYPTION) {
        return Err(file.wrong(
            "the key is encrypted as before PKCS#8; convert it by `openssl pkcs8 -topk8 -in KEY`",
        ));
    }
    if let Some(section) = encrypted_section(&text) {
        return decrypt(section, password).map_err(|reason| file.wrong(reason));
    }
    match PrivateKeyDer::pem_slice_iter(&bytes).next() {
        Some(Ok(key)) => Ok(key),
        Some(Err(error)) => Err(file.wrong(format!("is no PEM: {error}"))),
        None => Err(file.wrong("holds no private key in PEM")),
    }
}

fn encrypted_section(text: &str) -> Option<&str> {
    let from = text.find(ENCRYPTED_BEGIN)?;
    let end = text[from..].find(ENCRYPTED_END)? + ENCRYPTED_END.len();
    Some(&text[from..from + end])
}

fn decrypt(section: &str, password: Option<&[u8]>) -> Result<PrivateKeyDer<'static>, String> {
    let password = password.ok_or("the key is encrypted; set tls-key-file-pass")?;
    let (_, document) =
        pkcs8::SecretDocument::from_pem(section).map_err(|error| format!("is no PEM: {error}"))?;
    let encrypted = EncryptedPrivateKeyInfo::try_from(document.as_bytes())
        .map_err(|error| format!("the key is no encrypted PKCS#8: {error}"))?;
    let key = encrypted.decrypt(password).map_err(
        |_| "the key cannot be decrypted: tls-key-file-pass is wrong, or the cipher is unknown",
    )?;
    Ok(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec()).into())
}

/// Adds the certificates of a file to those that are trusted.
pub(crate) fn trust(file: Named<'_>, roots: &mut RootCertStore) -> Result<(), TlsError> {
    for certificate in certificates(file)? {
        roots
            .add(certificate)
            .map_err(|error| file.wrong(format!("holds a certificate of no use: {error}")))?;
    }
    Ok(())
}

/// Adds the certificates of all files of a directory to those that are trusted. What is no file, or
/// holds no certificate, is passed over, as a directory of OpenSSL's may hold links and lists.
pub(crate) fn trust_all(dir: Named<'_>, roots: &mut RootCertStore) -> Result<(), TlsError> {
    let Named { option, path } = dir;
    let unreadable = |error| TlsError::Unreadable { option, path: path.to_owned(), error };
    let entries = std::fs::read_dir(path).map_err(unreadable)?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries.take(FILES_MAX) {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    let before = roots.len();
    for path in &files {
        match certificates(Named { option, path }) {
            Ok(all) => {
                roots.add_parsable_certificates(all);
            }
            Err(TlsError::File { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if roots.len() == before { Err(dir.wrong("holds no certificate in PEM")) } else { Ok(()) }
}
