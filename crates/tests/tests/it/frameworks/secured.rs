//! A server that is reached over TLS, with a certificate made for it, by a user of few rights.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use basalt_tests::server::{Kind, Launch, Server, free_port};

const USER: &str = "application";
const PASSWORD: &str = "a-secret-of-the-tests";

/// What frameworks need: data, scripts and channels; of what concerns the whole server, only what
/// they ask about it, what they listen to, and what these programs use to look at what is left.
const RIGHTS: &str = "~* &* +@all -@admin -@dangerous +info +keys +flushall +flushdb +sort +client \
                      +restore +config|get";

pub struct Secured {
    server: Server,
    port: u16,
    certificates: tempfile::TempDir,
}

impl Secured {
    /// # Panics
    /// `openssl` is missing, or the server does not start.
    pub fn start() -> Secured {
        let certificates = tempfile::tempdir().expect("a folder");
        certify(certificates.path());
        let port = free_port().expect("there are free ports");
        let file = |name: &str| certificates.path().join(name).display().to_string();
        let server = Launch::new(Kind::Basalt)
            .option("tls-port", &port.to_string())
            .option("tls-cert-file", &file("server.pem"))
            .option("tls-key-file", &file("server.key"))
            .option("tls-ca-cert-file", &file("authority.pem"))
            .option("tls-auth-clients", "no")
            // Sessions hear of keys that end, which their user may not switch on.
            .option("notify-keyspace-events", "Egx")
            .start();
        let made = server.connect().run(&format!("ACL SETUSER {USER} on >{PASSWORD} {RIGHTS}"));
        made.expect("the user is made");
        Secured { server, port, certificates }
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Where it is, with its user: clients check the name, so it is the certificate's.
    pub fn url(&self) -> String {
        format!("rediss://{USER}:{PASSWORD}@localhost:{}", self.port)
    }

    /// The file of the authority by which its certificate is known.
    pub fn authority(&self) -> PathBuf {
        self.certificates.path().join("authority.pem")
    }
}

/// Makes an authority and a certificate of it for `localhost`.
fn certify(folder: &Path) {
    let made = Command::new("sh")
        .args(["-eu", "-c", SCRIPT])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("there is a shell");
    assert!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
}

const SCRIPT: &str = "
key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
openssl req -x509 $key -keyout authority.key -out authority.pem -days 2 -subj '/CN=tests' \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
openssl req $key -keyout server.key -out server.csr -subj /CN=localhost
printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' > extensions
openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
  -extfile extensions -out server.pem
";
