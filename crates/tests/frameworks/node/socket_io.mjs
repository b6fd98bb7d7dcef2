// socket.io: servers that find each other's clients by Redis, with each of its three adapters.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter';
import { createAdapter as createStreamsAdapter } from '@socket.io/redis-streams-adapter';
import Redis from 'ioredis';
import { createClient } from 'redis';
import { Server } from 'socket.io';
import { io as connect } from 'socket.io-client';
import { nodeRedisOptions, options, run, sleep, until } from './server.mjs';

const NODES = 3;

/** A client of a server, its side of it, and what the client hears. */
async function withClient(io, url) {
  const connected = new Promise((resolve) => io.once('connection', resolve));
  const client = connect(url, { transports: ['websocket'], forceNew: true, reconnection: false });
  const heard = [];
  client.onAny((...message) => heard.push(message));
  return { client, socket: await connected, heard };
}

/** A few servers with a client each, and what their clients hear. */
async function withNodes(adapter, body, settings = {}) {
  const opened = [];
  const nodes = [];
  for (let number = 0; number < NODES; number += 1) {
    const http = createServer();
    const io = new Server(http, { adapter: await adapter(opened), ...settings });
    await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${http.address().port}`;
    const { client, socket, heard } = await withClient(io, url);
    nodes.push({ io, url, client, socket, heard });
  }
  await until('all servers know each other', async () => (await nodes[0].io.fetchSockets()).length === NODES);
  await body(nodes);
  for (const { io, client } of nodes) {
    client.disconnect();
    await io.close();
  }
  for (const connection of opened) await connection.disconnect();
}

/** What a cluster of socket.io's servers can do. */
async function together(nodes) {
  const [one, two, three] = nodes;
  const counts = () => nodes.map(({ heard }) => heard.length);
  one.io.emit('everybody', 1, Buffer.from([0, 255]));
  await until('everybody has heard', () => counts().every((count) => count === 1));
  assert.deepEqual(three.heard[0], ['everybody', 1, Buffer.from([0, 255])]);
  two.socket.broadcast.emit('others');
  await until('the others have heard', () => counts().join() === '2,1,2');
  two.socket.join('room');
  three.io.in(one.socket.id).socketsJoin('room');
  await until('two are in the room', async () => (await three.io.in('room').fetchSockets()).length === 2);
  three.io.to('room').emit('room');
  await until('the room has heard', () => counts().join() === '3,2,2');
  one.io.to('room').except(one.socket.id).emit('but one');
  await until('one of the room has heard', () => counts().join() === '3,3,2');
  // Answers of all.
  for (const [number, { client }] of nodes.entries()) client.on('ask', (reply) => reply(number));
  const answers = await one.io.timeout(10_000).emitWithAck('ask');
  assert.deepEqual(answers.sort(), [0, 1, 2]);
  // Between the servers.
  for (const [number, { io }] of nodes.entries()) io.on('sum', (value, reply) => reply(number + value));
  assert.deepEqual((await one.io.serverSideEmitWithAck('sum', 10)).sort(), [11, 12]);
  two.io.in('room').socketsLeave('room');
  await until('nobody is in the room', async () => (await one.io.in('room').fetchSockets()).length === 0);
  const gone = new Promise((resolve) => three.client.once('disconnect', resolve));
  one.io.in(three.socket.id).disconnectSockets(true);
  await gone;
  await until('it is gone for all', async () => (await two.io.fetchSockets()).length === NODES - 1);
  // Nothing that was not meant for them.
  await sleep(50);
  assert.deepEqual(counts(), [4, 4, 3]);
}

const ioredis = (opened) => {
  const client = new Redis(options);
  // Not before the answers are there to what adapters have sent at their end without waiting.
  opened.push({ disconnect: () => client.quit() });
  return client;
};

const nodeRedis = async (opened, more) => {
  const client = await createClient({ ...nodeRedisOptions, ...more }).connect();
  opened.push({ disconnect: () => client.close() });
  return client;
};

async function byPubSub() {
  await withNodes((opened) => createAdapter(ioredis(opened), ioredis(opened)), together);
}

async function byPubSubOfNodeRedis() {
  await withNodes(async (opened) => createAdapter(await nodeRedis(opened), await nodeRedis(opened)), together);
}

async function byShardedPubSub() {
  const settings = { subscriptionMode: 'dynamic' };
  await withNodes(async (opened) => createShardedAdapter(await nodeRedis(opened), await nodeRedis(opened), settings), together);
}

async function byStreams() {
  await withNodes(async (opened) => createStreamsAdapter(await nodeRedis(opened), { streamName: 'one' }), together);
}

/** A client that was cut off gets what it has missed from the stream. */
async function recovery() {
  const recover = { connectionStateRecovery: { maxDisconnectionDuration: 60_000 } };
  const adapter = async (opened) => createStreamsAdapter(await nodeRedis(opened), { streamName: 'two' });
  const caughtUp = async ([one, two]) => {
    one.io.emit('before');
    await until('it has heard', () => two.heard.length === 1);
    const id = two.client.id;
    const cut = new Promise((resolve) => two.client.once('disconnect', resolve));
    // Only then is the client's session kept; one that is back earlier is a new client.
    const noticed = new Promise((resolve) => two.io.sockets.sockets.get(id).once('disconnect', resolve));
    const witness = await withClient(two.io, two.url);
    two.client.io.engine.close();
    await cut;
    await noticed;
    one.io.emit('meanwhile', 1);
    one.io.emit('meanwhile', 2);
    // The adapter tells a client twice of what its server reads from the stream after the client is back.
    await until('its server has read them', () => witness.heard.length === 2);
    witness.client.disconnect();
    two.client.connect();
    await until('it has caught up', () => two.heard.length === 3);
    assert.equal(two.client.recovered, true);
    assert.equal(two.client.id, id);
    assert.deepEqual(two.heard.slice(1).map(([name, number]) => [name, number]), [['meanwhile', 1], ['meanwhile', 2]]);
  };
  await withNodes(adapter, caughtUp, recover);
}

await run('socket.io', [byPubSub, byPubSubOfNodeRedis, byShardedPubSub, byStreams, recovery]);
