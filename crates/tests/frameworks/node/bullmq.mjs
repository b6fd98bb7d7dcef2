// BullMQ: workers with results, retries, delays, priorities, schedules, rate limits, flows and lost locks.

import assert from 'node:assert/strict';
import { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } from 'bullmq';
import Redis from 'ioredis';
import { fail, options, run, sleep, until } from './server.mjs';

const connection = { ...options, maxRetriesPerRequest: null };
const client = new Redis(options);

/** A queue of its own with its worker and its events, closed at the end. */
async function withQueue(name, handler, settings, body) {
  const queue = new Queue(name, { connection });
  const events = new QueueEvents(name, { connection });
  await events.waitUntilReady();
  const worker = handler && new Worker(name, handler, { connection, ...settings });
  await worker?.waitUntilReady();
  worker?.on('error', fail);
  await body({ queue, events, worker });
  await worker?.close();
  await events.close();
  await queue.obliterate({ force: true });
  assert.deepEqual(await keysOf(queue), []);
  await queue.close();
}

/** What is left of a queue, beside its events, what stands for the queue itself, and what expires. */
async function keysOf(queue) {
  const keys = await client.keys(`bull:${queue.name}:*`);
  return keys.filter((key) => !/:(events|meta|id|limiter|marker|pc|stalled-check)$/.test(key));
}

async function results() {
  const square = async (job) => {
    await job.updateProgress(50);
    await job.log(`squares ${job.data.number}`);
    return job.data.number ** 2;
  };
  await withQueue('results', square, { concurrency: 5 }, async ({ queue, events }) => {
    const progress = new Set();
    events.on('progress', ({ jobId }) => progress.add(jobId));
    const numbers = [...Array(100).keys()];
    const jobs = await queue.addBulk(numbers.map((number) => ({ name: 'square', data: { number } })));
    const values = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 60_000)));
    assert.deepEqual(values, numbers.map((number) => number ** 2));
    assert.equal(progress.size, 100);
    assert.deepEqual((await queue.getJobLogs(jobs[7].id)).logs, ['squares 7']);
    const { completed, failed, waiting, active } = await queue.getJobCounts();
    assert.deepEqual({ completed, failed, waiting, active }, { completed: 100, failed: 0, waiting: 0, active: 0 });
    assert.equal((await queue.getCompleted(0, 9)).length, 10);
    assert.equal((await queue.clean(0, 60, 'completed')).length, 60);
    assert.equal(await queue.getCompletedCount(), 40);
  });
}

async function retries() {
  const flaky = async (job) => {
    if (job.name === 'hopeless') throw new UnrecoverableError('hopeless');
    if (job.attemptsMade < job.data.failures) throw new Error(`attempt ${job.attemptsMade}`);
    return job.attemptsMade;
  };
  await withQueue('retries', flaky, {}, async ({ queue, events }) => {
    const begun = Date.now();
    const backoff = { type: 'exponential', delay: 50 };
    const job = await queue.add('flaky', { failures: 3 }, { attempts: 4, backoff });
    assert.equal(await job.waitUntilFinished(events), 3);
    assert.ok(Date.now() - begun >= 50 + 100 + 200, 'it has waited between its attempts');
    const beaten = await queue.add('flaky', { failures: 3 }, { attempts: 2, backoff: 10 });
    await assert.rejects(beaten.waitUntilFinished(events), /attempt 1/);
    const hopeless = await queue.add('hopeless', {}, { attempts: 10 });
    await assert.rejects(hopeless.waitUntilFinished(events), /hopeless/);
    assert.equal(await queue.getFailedCount(), 2);
    // By hand.
    const failed = await queue.getJob(beaten.id);
    assert.equal(await failed.getState(), 'failed');
    await failed.updateData({ failures: 0 });
    await failed.retry();
    await until('the retried job is done', async () => (await failed.getState()) === 'completed');
  });
}

async function delays() {
  const stamp = async () => Date.now();
  await withQueue('delays', stamp, {}, async ({ queue, events }) => {
    const begun = Date.now();
    const late = await queue.add('late', {}, { delay: 700 });
    const promoted = await queue.add('promoted', {}, { delay: 3_600_000 });
    const moved = await queue.add('moved', {}, { delay: 3_600_000 });
    assert.equal(await queue.getDelayedCount(), 3);
    assert.equal(await late.getState(), 'delayed');
    await promoted.promote();
    await moved.changeDelay(300);
    await promoted.waitUntilFinished(events);
    assert.ok((await moved.waitUntilFinished(events)) - begun >= 300);
    assert.ok((await late.waitUntilFinished(events)) - begun >= 700);
  });
}

async function priorities() {
  await withQueue('priorities', null, {}, async ({ queue, events }) => {
    const seen = [];
    await queue.pause();
    for (const priority of [3, 1, 2, 1, 0]) await queue.add(`p${priority}`, {}, { priority });
    const last = await queue.add('first', {}, { lifo: true });
    const once = await queue.add('once', {}, { jobId: 'a-name', priority: 9 });
    assert.equal((await queue.add('once', {}, { jobId: 'a-name', priority: 9 })).id, once.id);
    const worker = new Worker(queue.name, async (job) => seen.push(job.name), { connection });
    await sleep(100);
    assert.deepEqual(seen, [], 'the queue is paused');
    await queue.resume();
    await once.waitUntilFinished(events);
    assert.deepEqual(seen, ['first', 'p0', 'p1', 'p1', 'p2', 'p3', 'once']);
    assert.equal(await last.getState(), 'completed');
    await worker.close();
  });
}

async function schedules() {
  const times = [];
  const note = async (job) => times.push(job.timestamp);
  await withQueue('schedules', note, {}, async ({ queue }) => {
    await queue.upsertJobScheduler('often', { every: 150, limit: 4 }, { name: 'tick', data: {} });
    await queue.upsertJobScheduler('nightly', { pattern: '0 3 * * *', tz: 'UTC' }, { name: 'night' });
    assert.equal((await queue.getJobSchedulers()).length, 2);
    await until('four ticks', () => times.length >= 4);
    await sleep(400);
    assert.equal(times.length, 4, 'the limit holds');
    assert.equal(await queue.removeJobScheduler('nightly'), true);
    assert.equal((await queue.getJobSchedulers()).some(({ key }) => key === 'nightly'), false);
  });
}

async function limits() {
  const stamps = [];
  const settings = { limiter: { max: 5, duration: 400 }, concurrency: 3 };
  await withQueue('limits', async () => stamps.push(Date.now()), settings, async ({ queue }) => {
    await queue.addBulk([...Array(20).keys()].map((number) => ({ name: 'job', data: { number } })));
    await until('all are done', () => stamps.length === 20);
    // Five a window, so that the last is done three windows after the first.
    assert.ok(stamps[19] - stamps[0] >= 1000, `they took ${stamps[19] - stamps[0]} ms`);
    assert.ok(stamps[5] - stamps[0] >= 200, 'the sixth had to wait');
  });
}

async function deduplication() {
  await withQueue('deduplication', async () => 'done', {}, async ({ queue, events }) => {
    const settings = { deduplication: { id: 'one', ttl: 60_000 } };
    const first = await queue.add('job', { number: 1 }, settings);
    const second = await queue.add('job', { number: 2 }, settings);
    assert.equal(second.id, first.id);
    assert.equal(await queue.getDeduplicationJobId('one'), first.id);
    await first.waitUntilFinished(events);
    await queue.removeDeduplicationKey('one');
    const third = await queue.add('job', { number: 3 }, settings);
    assert.notEqual(third.id, first.id);
    await third.waitUntilFinished(events);
  });
}

async function flows() {
  const work = async (job) => {
    if (job.name === 'broken') throw new Error('broken');
    const values = Object.values(await job.getChildrenValues());
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) : job.data.number;
  };
  const flow = new FlowProducer({ connection });
  await withQueue('leaves', work, { concurrency: 4 }, () =>
    withQueue('sums', work, {}, async ({ queue, events }) => {
      const leaf = (number) => ({ name: 'leaf', queueName: 'leaves', data: { number } });
      const sum = (children) => ({ name: 'sum', queueName: 'sums', children });
      const tree = await flow.add(sum([sum([leaf(1), leaf(2)]), sum([leaf(3), leaf(4)]), leaf(5)]));
      assert.equal(await tree.job.waitUntilFinished(events), 15);
      assert.deepEqual(await tree.job.getDependenciesCount(), { processed: 3, unprocessed: 0, failed: 0, ignored: 0 });
      const read = await flow.getFlow({ id: tree.job.id, queueName: 'sums' });
      assert.deepEqual(read.children.map(({ children }) => children?.length ?? 0).sort(), [0, 2, 2]);
      // A child that fails for good fails its parent, or is passed over.
      const broken = (settings) => ({ name: 'broken', queueName: 'leaves', opts: settings });
      const failing = await flow.add(sum([leaf(1), broken({ failParentOnFailure: true })]));
      await assert.rejects(failing.job.waitUntilFinished(events), /child .* failed/);
      const ignoring = await flow.add(sum([leaf(7), broken({ ignoreDependencyOnFailure: true })]));
      assert.equal(await ignoring.job.waitUntilFinished(events), 7);
      const wide = await flow.addBulk([sum([...Array(50).keys()].map(leaf)), sum([leaf(1)])]);
      assert.equal(await wide[0].job.waitUntilFinished(events), 1225);
      assert.equal(await wide[1].job.waitUntilFinished(events), 1);
      assert.equal(await queue.getWaitingChildrenCount(), 0);
    }),
  );
  await flow.close();
}

async function lostLocks() {
  await withQueue('locks', null, {}, async ({ queue, events }) => {
    const job = await queue.add('job', {});
    // A worker that takes a job and dies: nobody extends its lock.
    const dead = new Worker(queue.name, null, { connection, lockDuration: 300, skipStalledCheck: true });
    const held = await dead.getNextJob('its token');
    assert.equal(held.id, job.id);
    assert.equal(await held.extendLock('its token', 300), 1);
    assert.equal(await held.extendLock('another token', 300), 0);
    const worker = new Worker(queue.name, async () => 'by the other', { connection, stalledInterval: 200 });
    assert.equal(await job.waitUntilFinished(events), 'by the other');
    await assert.rejects(held.moveToCompleted('too late', 'its token', false), /lock|not in the active state/i);
    // One that lives extends its lock for as long as it works.
    await worker.close();
    let stalled = 0;
    const slow = new Worker(queue.name, async () => sleep(1_500), { connection, lockDuration: 400, stalledInterval: 100 });
    slow.on('stalled', () => (stalled += 1));
    const long = await queue.add('long', {});
    await long.waitUntilFinished(events);
    assert.equal(stalled, 0);
    await slow.close();
    await dead.close();
  });
}

await run('bullmq', [results, retries, delays, priorities, schedules, limits, deduplication, flows, lostLocks]);
