//! CLIENT KILL reaches the connections that it should.

use super::text;
use crate::harness::TestServer;
use basalt_resp::Value;
use basalt_service::clients::{ClientHandle, NewClient, Wake};
use std::sync::Arc;

#[derive(Debug)]
struct NoWake;

impl Wake for NoWake {
    fn sweep(&self) {}

    fn run_again(&self) {}

    fn serve(&self, _: basalt_service::hand_over::Served) {
        panic!("nobody waits on another thread");
    }
}

fn connect(server: &TestServer, address: &str) -> Arc<ClientHandle> {
    server.server.clients.add(NewClient {
        front: None,
        address: address.to_owned(),
        local_address: "10.0.0.1:6379".to_owned(),
        fd: 9,
        now_ms: 0,
        wake: Box::new(NoWake),
    })
}

#[test]
fn filters_are_combined() {
    let mut server = TestServer::new();
    let first = connect(&server, "10.0.0.2:1");
    let second = connect(&server, "10.0.0.2:2");
    let third = connect(&server, "10.0.0.2:3");
    let id = second.id;
    assert_eq!(server.line(&format!("CLIENT KILL ID {id} ADDR 10.0.0.2:1")), Value::Integer(0));
    assert_eq!(server.line(&format!("CLIENT KILL ID {id} TYPE normal")), Value::Integer(1));
    assert!(second.is_killed() && !first.is_killed() && !third.is_killed());
    assert_eq!(server.line("CLIENT KILL 10.0.0.2:1"), Value::Simple(b"OK".to_vec()));
    assert!(first.is_killed() && !third.is_killed());
    server.server.clients.remove(first.id);
    server.server.clients.remove(second.id);
    assert_eq!(server.line("CLIENT KILL LADDR 10.0.0.1:6379"), Value::Integer(1));
    let own = server.session.client.id;
    assert_eq!(server.line(&format!("CLIENT KILL ID {own}")), Value::Integer(0));
    assert!(!server.session.client.is_killed());
    assert_eq!(server.line(&format!("CLIENT KILL ID {own} SKIPME no")), Value::Integer(1));
}

#[test]
fn lines_have_all_fields_of_redis_72_in_order() {
    let mut server = TestServer::new();
    server.line("CLIENT SETNAME me");
    server.line("CLIENT SETINFO lib-name driver");
    server.line("SELECT 2");
    let line = text(&server.line("CLIENT INFO"));
    let names: Vec<&str> =
        line.trim_end().split(' ').filter_map(|field| Some(field.split_once('=')?.0)).collect();
    let expected = "id addr laddr fd name age idle flags db sub psub ssub multi qbuf qbuf-free \
                    argv-mem multi-mem rbs rbp obl oll omem tot-mem events cmd user redir resp \
                    lib-name lib-ver";
    assert_eq!(names.join(" "), expected);
    for field in ["name=me", "flags=N", "db=2", "cmd=client|info", "resp=2", "lib-name=driver"] {
        assert!(line.split(' ').any(|own| own == field), "{field}: {line}");
    }
    connect(&server, "/tmp/socket:0");
    let list = text(&server.line("CLIENT LIST"));
    assert_eq!(list.lines().count(), 2);
    assert!(list.lines().nth(1).expect("two").contains(" flags=U "), "{list}");
}
