// redlock: locks over one server and over three databases of it, extended, lost and taken over.

import assert from 'node:assert/strict';
import Redis from 'ioredis';
import Redlock, { ExecutionError, ResourceLockedError } from 'redlock';
import { options, run, sleep } from './server.mjs';

const clients = [0, 1, 2].map((db) => new Redis({ ...options, db }));
const patient = new Redlock(clients, { retryCount: 200, retryDelay: 20, retryJitter: 10 });
const impatient = new Redlock(clients, { retryCount: 0 });

async function excluded() {
  const lock = await patient.acquire(['one', 'two'], 5_000);
  await assert.rejects(impatient.acquire(['two'], 1_000), ExecutionError);
  const errors = await attempts(impatient.acquire(['one'], 1_000));
  assert.ok(errors.every((error) => error instanceof ResourceLockedError), String(errors));
  await lock.release();
  const next = await impatient.acquire(['two'], 1_000);
  await next.release();
  assert.deepEqual(await clients[0].keys('*'), []);
}

/** What each server had against it. */
async function attempts(promise) {
  const error = await promise.then(() => assert.fail('it was not locked'), (error) => error);
  const stats = await Promise.all(error.attempts);
  return stats.flatMap(({ votesAgainst }) => [...votesAgainst.values()]);
}

async function extended() {
  let lock = await patient.acquire(['long'], 400);
  for (let round = 0; round < 4; round += 1) {
    await sleep(200);
    lock = await lock.extend(400);
    assert.ok((await clients[0].pttl('long')) > 200);
  }
  await assert.rejects(impatient.acquire(['long'], 100), ExecutionError);
  await lock.release();
}

async function lost() {
  const lock = await impatient.acquire(['lost'], 100);
  await sleep(200);
  const taken = await impatient.acquire(['lost'], 5_000);
  // Neither extended nor released by the one that has lost it.
  await assert.rejects(lock.extend(1_000));
  await assert.rejects(lock.release(), ExecutionError);
  assert.equal(await clients[1].get('lost'), taken.value);
  await taken.release();
}

async function minority() {
  // One of three is taken by somebody else: the majority decides.
  await clients[2].set('shared', 'somebody', 'PX', 60_000);
  const lock = await impatient.acquire(['shared'], 1_000);
  await lock.release();
  await clients[1].set('shared', 'somebody', 'PX', 60_000);
  await assert.rejects(impatient.acquire(['shared'], 1_000), ExecutionError);
  await clients[1].del('shared');
  await clients[2].del('shared');
  assert.equal(await clients[0].exists('shared'), 0);
}

async function counted() {
  // A counter that is read and written apart, under a lock that extends itself.
  const increment = () =>
    patient.using(['counter'], 10_000, async (signal) => {
      const value = Number((await clients[0].get('count')) ?? 0);
      await sleep(2);
      assert.equal(signal.aborted, false);
      await clients[0].set('count', value + 1);
    });
  await Promise.all(Array.from({ length: 30 }, increment));
  assert.equal(await clients[0].get('count'), '30');
  await patient.using(['slow'], 1_500, { automaticExtensionThreshold: 1_000 }, async (signal) => {
    await sleep(2_500);
    assert.equal(signal.aborted, false, 'it was extended meanwhile');
  });
  await clients[0].del('count');
}

await run('redlock', [excluded, extended, lost, minority, counted]);
