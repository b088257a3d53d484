// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The control socket: whose it is, where it lies, and what is no request.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;

use crate::json;
use crate::place::{wait_until, Place};

#[test]
fn a_socket_that_no_node_answers_is_told_of_as_what_it_is() {
    let place = Place::new("control-wrong");
    let told = place.refused(&["net", "show"]);
    assert!(told.contains("no node here has a control socket"), "{told}");
    let told = place.refused(&["net", "show", "--node", "2@soft"]);
    assert!(told.contains("lnd.fabric.2.control: no node has its control socket there"), "{told}");
    let told = place.refused(&["net", "show", "--control", "none/there"]);
    assert!(told.contains("none/there: no node has its control socket there"), "{told}");
    fs::write(place.dir.join("file"), "text").unwrap();
    let told = place.refused(&["net", "show", "--control", "file"]);
    assert!(told.contains("the node is gone, or it is no control socket"), "{told}");

    // What answers nonsense, and what hangs up.
    let answers = ["nonsense\n", "{}\n", "{\"version\":9,\"ok\":true}\n", ""];
    let whys = ["no answer of a node", "of another version", "of another version", "has ended"];
    for (answer, why) in answers.into_iter().zip(whys) {
        let path = place.dir.join("fake");
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let fake = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let told = place.refused(&["net", "show", "--control", "fake"]);
        assert!(told.contains(why), "{answer}: {told}");
        fake.join().unwrap();
    }

    // A node that was killed leaves its socket; the next one replaces it.
    let mut node = place.small_node();
    node.kill();
    let told = place.refused(&["stats", "show"]);
    assert!(told.contains("the node is gone, or it is no control socket"), "{told}");
    let mut node = place.small_node();
    place.ok(&["stats", "show"]);
    // The socket of a node that runs, or a file, is not replaced.
    let args = ["node", "--me", "2@soft", "--dir", "other", "--control"];
    for (path, why) in [
        ("lnd.fabric.1.control", "another process has its control socket there"),
        ("file", "is there and is no socket"),
        ("none/there", "none/there: No such file"),
    ] {
        let told = place.refused(&[&args[..], &[path]].concat());
        assert!(told.contains(why), "{told}");
    }
    assert_eq!(fs::read_to_string(place.dir.join("file")).unwrap(), "text");
    // Two nodes: one has to be named.
    let args = ["node", "--me", "2@soft", "--dir", "other"];
    let mut other = place.start("other.log", &args);
    other.wait_until("the node is up", |log| log.contains("is up"));
    let told = place.refused(&["net", "show"]);
    assert!(told.contains("several nodes") && told.contains("says which"), "{told}");
    let net = place.ok(&["net", "show", "--node", "2@soft"]);
    assert!(net.contains("nid: 2@soft0"), "{net}");
    // What a killed node has left does not count.
    other.kill();
    let net = place.ok(&["net", "show"]);
    assert!(net.contains("nid: 1@soft0"), "{net}");
    fs::remove_file(place.dir.join("lnd.fabric.2.control")).unwrap();
    // And one without.
    let quiet = [&args[..], &["--no-control"]].concat();
    let mut other = place.start("other.log", &quiet);
    other.wait_until("the node is up", |log| log.contains("is up"));
    assert!(!place.dir.join("lnd.fabric.2.control").exists());
    other.stop();
    node.stop();
}

#[test]
fn what_makes_no_sense_is_refused_and_the_node_serves_on() {
    let place = Place::new("control-hostile");
    let mut node = place.small_node();
    let path = place.dir.join("lnd.fabric.1.control");
    // The address of a socket is short; a path relative to an open directory is, too.
    let dir = fs::File::open(&place.dir).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&dir);
    let connect = || UnixStream::connect(format!("/proc/self/fd/{fd}/lnd.fabric.1.control"));
    let ask = |line: &[u8]| {
        let mut stream = connect().unwrap();
        // A line that is refused in its middle is not read to its end.
        let _ = stream.write_all(line);
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).unwrap();
        json(&answer)
    };
    let long = [b"{\"version\":1,\"do\":\"".as_slice(), &vec![b'x'; 2 << 20], b"\"}\n"].concat();
    for (line, why) in [
        (&b"\n"[..], "no JSON"),
        (b"{\n", "no JSON"),
        (b"\xff\xfe\n", "no JSON"),
        (b"{}\n", "no version"),
        (b"[1]\n", "no version"),
        (b"{\"version\":2}\n", "version 2, and this is 1"),
        (b"{\"version\":1}\n", "'do' is missing or no text"),
        (b"{\"version\":1,\"do\":7}\n", "'do' is missing or no text"),
        (b"{\"version\":1,\"do\":\"dance\"}\n", "there are show, set, peer and drain"),
        (b"{\"version\":1,\"do\":\"show\"}\n", "'what' is missing"),
        (b"{\"version\":1,\"do\":\"show\",\"what\":\"all\"}\n", "there are net, peer"),
        (b"{\"version\":1,\"do\":\"set\",\"knob\":\"message_timeout_ms\"}\n", "is not 1 to"),
        (b"{\"version\":1,\"do\":\"drain\",\"grace_ms\":-1}\n", "'grace_ms' is not 0 to"),
        (b"{\"version\":1,\"do\":\"peer\",\"nid\":\"x\",\"up\":true}\n", "a NID looks like"),
        (&long, "one line of at most 1 MiB"),
    ] {
        let answer = ask(line);
        assert_eq!(answer["ok"], false, "{answer}");
        let told = answer["error"].as_str().unwrap();
        assert!(told.contains(why), "{why}: {told}");
    }
    // Deep nesting, and clients that say nothing or hang up.
    let deep = ["[".repeat(100_000), "\n".into()].concat();
    assert_eq!(ask(deep.as_bytes())["ok"], false);
    let mut silent = Vec::new();
    wait_until("there are too many", || {
        let stream = connect().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
        let mut answer = String::new();
        let _ = BufReader::new(&stream).read_line(&mut answer);
        silent.push(stream);
        answer.contains("16 connections are open already")
    });
    assert!(silent.len() <= 17, "{} connections at a time", silent.len() - 1);
    drop(silent);
    wait_until("they are gone", || place.run(&["net", "show"]).status.success());
    place.ok(&["ping", "1@soft"]);
    assert!(path.exists());
    node.stop();
}

/// A client that was told that the node does not answer, or that has gone, does not find its
/// request carried out later.
#[test]
fn what_was_given_up_is_not_done_later() {
    let place = Place::new("control-late");
    let mut node = place.small_node();
    node.signal("-STOP");
    // This client has asked, and waits.
    let path = place.dir.join("lnd.fabric.1.control");
    let dir = fs::File::open(path.parent().unwrap()).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&dir);
    let socket = format!("/proc/self/fd/{fd}/lnd.fabric.1.control");
    let set = |value: u32| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let request = format!(
            "{{\"version\":1,\"do\":\"set\",\"knob\":\"message_timeout_ms\",\"value\":{value}}}\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    // One goes away before the node can take what it has asked for; another has ended its own
    // sending, and listens.
    drop(set(7));
    let told = place.refused(&["drain"]);
    assert!(told.contains("no answer within 8 s"), "{told}");
    let listening = set(8);
    listening.shutdown(std::net::Shutdown::Write).unwrap();
    node.signal("-CONT");
    let mut answer = String::new();
    BufReader::new(&listening).read_line(&mut answer).unwrap();
    let answer = json(&answer);
    assert_eq!(answer["answer"]["before"], 10_000, "the first was not carried out: {answer}");
    assert_eq!(answer["answer"]["value"], 8, "{answer}");
    // Nor was the node drained.
    let stats = json(&place.ok(&["stats", "show", "--json"]));
    assert_eq!(stats["statistics"]["server"]["draining"], false, "{stats:#}");
    node.stop();
}

/// The socket is its user's alone from its first moment: no file mode mask is needed for it.
#[test]
fn a_control_socket_is_private_whatever_the_mask() {
    let place = Place::new("control-mask");
    let script = "umask 000; exec \"$0\" node --me 1@soft --dir store --nodes 3 --window 34";
    let log = fs::File::create(place.dir.join("node.log")).unwrap();
    let child = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_lnd")])
        .current_dir(&place.dir)
        .stdin(Stdio::null())
        .stdout(log)
        .spawn()
        .unwrap();
    let mut node = place.adopt("node.log", child);
    node.wait_until("the node is up", |log| log.contains("is up"));
    let path = place.dir.join("lnd.fabric.1.control");
    wait_until("its socket", || path.exists());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    place.ok(&["net", "show"]);
    node.stop();
}

fn sockets(place: &Place) -> usize {
    use std::os::unix::fs::FileTypeExt;
    let entries = fs::read_dir(&place.dir).unwrap();
    entries.filter(|it| it.as_ref().unwrap().file_type().unwrap().is_socket()).count()
}

/// A file's name need not be text.
#[test]
fn a_fabric_of_any_name_has_its_control_socket() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new("control-name");
    let name = std::ffi::OsStr::from_bytes(b"f \n\xff");
    let log = fs::File::create(place.dir.join("node.log")).unwrap();
    let args = ["node", "--me", "1@soft", "--dir", "store", "--window", "34", "--fabric"];
    let child = place.lnd(&args).arg(name).stdout(log).spawn().unwrap();
    let mut node = place.adopt("node.log", child);
    node.wait_until("the node is up", |log| log.contains("is up"));
    wait_until("its socket", || sockets(&place) == 1);
    for args in [&["net", "show"][..], &["ping", "1@soft"]] {
        let output = place.lnd(args).arg("--fabric").arg(name).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    node.stop();
    assert_eq!(sockets(&place), 0);
}

/// What may be in use is no node's to take away.
#[test]
fn a_control_path_of_others_is_left_alone_and_the_node_leaves_in_good_order() {
    use std::os::unix::net::UnixDatagram;
    let place = Place::new("control-taken");
    let node = |control| ["node", "--me", "1@soft", "--window", "34", "--control", control];
    let datagrams = UnixDatagram::bind(place.dir.join("datagrams")).unwrap();
    fs::create_dir(place.dir.join("dir")).unwrap();
    for (control, why) in [("datagrams", "datagrams: "), ("dir", "dir: is there and is no socket")]
    {
        let told = place.refused(&node(control));
        assert!(told.contains(why), "{told}");
        // A fabric that was made for it is gone with it.
        assert!(!place.dir.join("lnd.fabric").exists());
    }
    drop(datagrams);
    assert!(place.dir.join("datagrams").exists());
    // In a fabric that was there: absent, and not dead.
    place.ok(&["fabric", "format", "lnd.fabric", "--window", "34"]);
    place.refused(&node("dir"));
    let shown = place.ok(&["fabric", "show", "lnd.fabric"]);
    assert!(shown.contains("1@soft0: absent"), "{shown}");
    // A socket that another has put in its place outlives the node.
    let mut node = place.start("node.log", &node("own"));
    node.wait_until("the node is up", |log| log.contains("is up"));
    // One that answers knows which file is its own.
    let asks = ["net", "show", "--control", "own"];
    wait_until("its socket", || place.run(&asks).status.success());
    fs::remove_file(place.dir.join("own")).unwrap();
    let _other = UnixListener::bind(place.dir.join("own")).unwrap();
    node.stop();
    assert!(place.dir.join("own").exists());
}
