// Bull: workers with results, retries, delays, repeats, rate limits and lost locks.

import assert from 'node:assert/strict';
import Bull from 'bull';
import { fail, options, run, sleep, until } from './server.mjs';

/** A queue of its own, emptied and closed at the end. */
async function withQueue(name, settings, body) {
  const queue = new Bull(name, { redis: options, ...settings });
  queue.on('error', fail);
  await queue.isReady();
  await body(queue);
  await queue.obliterate({ force: true });
  await queue.close();
}

async function results() {
  await withQueue('results', {}, async (queue) => {
    const heard = new Set();
    queue.on('global:completed', (id) => heard.add(id));
    queue.process(5, async (job) => {
      await job.progress(42);
      return job.data.number * 2;
    });
    // First one alone: what the server says against it is kept from whoever adds several.
    assert.equal(await (await queue.add({ number: 21 })).finished(), 42);
    const jobs = await queue.addBulk([...Array(100).keys()].map((number) => ({ data: { number } })));
    const values = await Promise.all(jobs.map((job) => job.finished()));
    assert.deepEqual(values, [...Array(100).keys()].map((number) => number * 2));
    await until('everybody has heard', () => heard.size === 101);
    assert.equal((await queue.getJob(jobs[3].id))._progress, 42);
    const { completed, waiting, active } = await queue.getJobCounts();
    assert.deepEqual({ completed, waiting, active }, { completed: 101, waiting: 0, active: 0 });
    assert.equal((await queue.clean(0, 'completed')).length, 101);
  });
}

async function retries() {
  await withQueue('retries', {}, async (queue) => {
    queue.process(async (job) => {
      if (job.attemptsMade < job.data.failures) throw new Error(`attempt ${job.attemptsMade}`);
      return job.attemptsMade;
    });
    const begun = Date.now();
    const backoff = { type: 'exponential', delay: 50 };
    const job = await queue.add({ failures: 2 }, { attempts: 3, backoff });
    assert.equal(await job.finished(), 2);
    assert.ok(Date.now() - begun >= 50, 'it has waited between its attempts');
    const beaten = await queue.add({ failures: 3 }, { attempts: 2 });
    await assert.rejects(beaten.finished(), /attempt 1/);
    assert.equal(await queue.getFailedCount(), 1);
    const failed = await queue.getJob(beaten.id);
    await failed.update({ failures: 0 });
    await failed.retry();
    await until('the retried job is done', () => failed.isCompleted());
  });
}

async function delaysAndPriorities() {
  await withQueue('delays', {}, async (queue) => {
    await queue.pause();
    const seen = [];
    queue.process(async (job) => {
      seen.push(job.data.name);
      return Date.now();
    });
    const begun = Date.now();
    const late = await queue.add({ name: 'late' }, { delay: 600 });
    const promoted = await queue.add({ name: 'promoted' }, { delay: 3_600_000 });
    for (const priority of [3, 1, 2]) await queue.add({ name: priority }, { priority });
    const last = await queue.add({ name: 'last' }, { priority: 4 });
    assert.equal(await queue.getDelayedCount(), 2);
    assert.deepEqual(seen, []);
    await queue.resume();
    await last.finished();
    assert.deepEqual(seen.slice(0, 4), [1, 2, 3, 'last']);
    await promoted.promote();
    await promoted.finished();
    assert.ok((await late.finished()) - begun >= 600);
  });
}

async function repeats() {
  await withQueue('repeats', {}, async (queue) => {
    let ticks = 0;
    queue.process('tick', async () => (ticks += 1));
    await queue.add('tick', {}, { repeat: { every: 150, limit: 4 } });
    const nightly = { cron: '0 3 * * *', tz: 'UTC' };
    await queue.add('night', {}, { repeat: nightly });
    assert.equal((await queue.getRepeatableJobs()).length, 2);
    await until('four ticks', () => ticks === 4);
    await queue.removeRepeatable('night', nightly);
    await sleep(300);
    assert.equal(ticks, 4, 'the limit holds');
    assert.equal(await queue.getDelayedCount(), 0);
  });
}

async function limits() {
  await withQueue('limits', { limiter: { max: 5, duration: 400 } }, async (queue) => {
    const stamps = [];
    queue.process(async () => stamps.push(Date.now()));
    await queue.addBulk([...Array(20).keys()].map((number) => ({ data: { number } })));
    await until('all are done', () => stamps.length === 20);
    assert.ok(stamps[19] - stamps[0] >= 1000, `they took ${stamps[19] - stamps[0]} ms`);
  });
}

async function lostLocks() {
  const settings = { lockDuration: 300, stalledInterval: 200, maxStalledCount: 1 };
  await withQueue('locks', { settings }, async (queue) => {
    const job = await queue.add({});
    const held = await queue.getNextJob();
    assert.equal(held.id, job.id);
    assert.equal(await held.extendLock(300), 1);
    const other = new Bull('locks', { redis: options, settings });
    let stalled = 0;
    other.on('stalled', () => (stalled += 1));
    other.process(async () => 'by the other');
    assert.equal(await job.finished(), 'by the other');
    await assert.rejects(held.moveToCompleted('too late', true), /lock|not in the active state/i);
    await until('it is told', () => stalled === 1);
    await other.close();
  });
  // One that lives extends its lock for as long as it works.
  await withQueue('long', { settings }, async (queue) => {
    let stalled = 0;
    queue.on('global:stalled', () => (stalled += 1));
    queue.process(async () => sleep(1_500));
    await (await queue.add({})).finished();
    assert.equal(stalled, 0);
  });
}

await run('bull', [results, retries, delaysAndPriorities, repeats, limits, lostLocks]);
