// bee-queue: workers with results, progress, retries, delays and stalled jobs.

import assert from 'node:assert/strict';
import Queue from 'bee-queue';
import { fail, options, run, until } from './server.mjs';

/** A queue of its own with a worker, destroyed and closed at the end. */
async function withQueue(name, settings, body) {
  const queue = new Queue(name, {
    redis: options,
    activateDelayedJobs: true,
    nearTermWindow: 1_000,
    ...settings,
  });
  queue.on('error', fail);
  await queue.ready();
  await body(queue);
  await queue.destroy();
  await queue.close(5_000);
}

/** Waits for the event that tells of a job's end. */
const finished = (job) =>
  new Promise((resolve, reject) => {
    job.on('succeeded', resolve);
    job.on('failed', reject);
  });

async function results() {
  await withQueue('results', {}, async (queue) => {
    queue.process(5, async (job) => {
      job.reportProgress({ half: true });
      return job.data.number + 1;
    });
    const jobs = [...Array(100).keys()].map((number) => queue.createJob({ number }));
    const progress = new Set();
    const ends = jobs.map((job) => {
      job.on('progress', () => progress.add(job.id));
      return finished(job);
    });
    const failed = await queue.saveAll(jobs);
    assert.equal(failed.size, 0);
    assert.deepEqual(await Promise.all(ends), [...Array(100).keys()].map((number) => number + 1));
    assert.equal(progress.size, 100);
    const { succeeded, failed: unlucky, waiting, active } = await queue.checkHealth();
    assert.deepEqual({ succeeded, unlucky, waiting, active }, { succeeded: 100, unlucky: 0, waiting: 0, active: 0 });
    const page = await queue.getJobs('succeeded', { size: 200 });
    assert.equal(page.length, 100);
    await queue.removeJob(jobs[0].id);
    assert.equal(await queue.getJob(jobs[0].id), null);
  });
}

async function retries() {
  await withQueue('retries', {}, async (queue) => {
    const tries = new Map();
    queue.process(async (job) => {
      tries.set(job.id, (tries.get(job.id) ?? 0) + 1);
      if (tries.get(job.id) <= job.data.failures) throw new Error(`try ${tries.get(job.id)}`);
      return tries.get(job.id);
    });
    const begun = Date.now();
    const job = queue.createJob({ failures: 2 }).retries(3).backoff('exponential', 50);
    const end = finished(job);
    await job.save();
    assert.equal(await end, 3);
    assert.ok(Date.now() - begun >= 150, 'it has waited between its tries');
    const beaten = queue.createJob({ failures: 5 }).retries(1);
    const defeat = finished(beaten);
    await beaten.save();
    await assert.rejects(defeat, /try 2/);
    assert.equal((await queue.checkHealth()).failed, 1);
  });
}

async function delays() {
  await withQueue('delays', {}, async (queue) => {
    queue.process(async () => Date.now());
    const begun = Date.now();
    const late = queue.createJob({}).delayUntil(begun + 600);
    const end = finished(late);
    await late.save();
    const named = await queue.createJob({}).setId('a-name').delayUntil(begun + 3_600_000).save();
    assert.equal(named.id, 'a-name');
    // The same name twice is one job.
    assert.equal((await queue.createJob({}).setId('a-name').save()).id, null);
    assert.equal((await queue.checkHealth()).delayed, 2);
    assert.ok((await end) - begun >= 600);
    assert.equal((await queue.checkHealth()).delayed, 1);
  });
}

async function stalled() {
  await withQueue('stalls', { stallInterval: 300 }, async (queue) => {
    // A worker that hangs in its job and dies.
    const dead = new Queue('stalls', { redis: options, stallInterval: 300 });
    const taken = new Promise((resolve) => dead.process(() => (resolve(), new Promise(() => {}))));
    const job = queue.createJob({});
    const end = finished(job);
    await job.save();
    await taken;
    await dead.close(1).catch(() => {});
    queue.process(async () => 'by the other');
    let noticed = 0;
    await until('it is noticed', async () => {
      noticed += (await queue.checkStalledJobs()) ?? 0;
      return noticed >= 1;
    });
    assert.equal(await end, 'by the other');
  });
}

await run('bee-queue', [results, retries, delays, stalled]);
