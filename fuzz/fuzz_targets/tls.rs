//! Bytes as a TLS server would get them: before a handshake, within one, and after it.
//!
//! The input's first bytes choose how far a good client goes before the rest of it comes, and how
//! much the socket gives at once. Whatever comes, nothing panics, nothing is made up of it that the
//! client has not said, and each call ends.

#![no_main]

use basalt_config::{ClientCertificates, Settings};
use basalt_env::{Clock, SystemClock};
use basalt_tls::{Channel, Handshake, ServerTls, common_name};
use libfuzzer_sys::fuzz_target;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::{Arc, LazyLock};

/// What a good client says before it turns.
const GOOD: &[u8] = b"PING\r\n";

struct Ends {
    server: ServerTls,
    client: Arc<ClientConfig>,
}

static ENDS: LazyLock<Ends> = LazyLock::new(|| {
    let params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let dir = tempfile::tempdir().expect("a folder");
    let (own, secret) = (dir.path().join("crt"), dir.path().join("key"));
    std::fs::write(&own, certificate.pem()).expect("a file");
    std::fs::write(&secret, key.serialize_pem()).expect("a file");
    let mut settings = Settings::default().tls;
    (settings.certificate, settings.key) = (Some(own.clone()), Some(secret));
    settings.trusted_file = Some(own);
    settings.client_certificates = ClientCertificates::Optional;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let server = ServerTls::new(&settings, &clock).expect("it fits together");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate.der().to_vec())).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ends { server, client: Arc::new(client) }
});

#[derive(Default)]
struct Pipe {
    to_server: VecDeque<u8>,
    to_client: VecDeque<u8>,
    step: usize,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.step).min(self.to_server.len());
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.to_server.read(&mut buffer[..count])
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to_client.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    let _ = common_name(input);
    let Some((&[good, step], bytes)) = input.split_first_chunk::<2>() else { return };
    let ends = &*ENDS;
    let mut channel = Channel::new(&ends.server).expect("rustls takes its own configuration");
    let mut pipe = Pipe { step: usize::from(step).max(1) * 16, ..Pipe::default() };
    let name = "localhost".try_into().expect("a name");
    let mut client = ClientConnection::new(Arc::clone(&ends.client), name).expect("a client");
    let mut is_done = false;
    for _ in 0..good % 8 {
        while client.wants_write() {
            let _ = client.write_tls(&mut pipe.to_server);
        }
        is_done = channel.shake_hands(&mut pipe).expect("a good client") == Handshake::Done;
        while !pipe.to_client.is_empty() {
            let _ = client.read_tls(&mut pipe.to_client);
            client.process_new_packets().expect("a good server");
        }
    }
    if is_done {
        client.writer().write_all(GOOD).expect("it is encrypted");
        let _ = client.write_tls(&mut pipe.to_server);
    }
    pipe.to_server.extend(bytes);
    if !is_done {
        let ended = channel.shake_hands(&mut pipe);
        assert!(!matches!(ended, Ok(Handshake::Done)), "nobody else can end what the client began");
        return;
    }
    let mut said = Vec::new();
    let mut buffer = vec![0; 1 + usize::from(good) * 64];
    for _ in 0..10_000 {
        match channel.read(&mut pipe, &mut buffer) {
            Ok(read) if read.count > 0 => said.extend_from_slice(&buffer[..read.count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock && !pipe.to_server.is_empty() => {}
            _ => break,
        }
    }
    assert_eq!(said, GOOD, "nobody can add a record to what the client has said");
    let _ = channel.write(&mut pipe, &[IoSlice::new(b"+PONG\r\n")]);
    channel.close(&mut pipe);
});
