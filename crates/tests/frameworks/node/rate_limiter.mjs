// rate-limiter-flexible: windows, blocks, penalties, queues and bursts, by ioredis and by node-redis.

import assert from 'node:assert/strict';
import Redis from 'ioredis';
import { createClient } from 'redis';
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterQueue, RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible';
import { nodeRedisOptions, options, run, sleep } from './server.mjs';

const ioredis = new Redis({ ...options, enableOfflineQueue: false });
await new Promise((resolve) => ioredis.once('ready', resolve));
const nodeRedis = await createClient(nodeRedisOptions).connect();

/** Limiters by both clients. */
const both = (settings) => [
  new RateLimiterRedis({ storeClient: ioredis, ...settings, keyPrefix: `${settings.keyPrefix}:i` }),
  new RateLimiterRedis({ storeClient: nodeRedis, useRedisPackage: true, ...settings, keyPrefix: `${settings.keyPrefix}:n` }),
];

/** How many of so many requests at once are let through. */
async function passed(limiter, key, count) {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => limiter.consume(key)));
  for (const { status, reason } of outcomes) {
    assert.ok(status === 'fulfilled' || reason instanceof RateLimiterRes, String(reason));
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

async function windows() {
  for (const limiter of both({ keyPrefix: 'window', points: 5, duration: 1 })) {
    assert.equal(await passed(limiter, 'a', 20), 5);
    assert.equal(await passed(limiter, 'b', 3), 3);
    const denied = await limiter.consume('a').catch((reason) => reason);
    assert.equal(denied.remainingPoints, 0);
    assert.ok(denied.msBeforeNext > 0 && denied.msBeforeNext <= 1_000, `${denied.msBeforeNext} ms`);
    await sleep(denied.msBeforeNext + 20);
    assert.equal(await passed(limiter, 'a', 20), 5);
    assert.equal((await limiter.get('a')).consumedPoints, 20);
    assert.equal(await limiter.get('nobody'), null);
  }
}

async function blocks() {
  for (const limiter of both({ keyPrefix: 'block', points: 2, duration: 1, blockDuration: 60 })) {
    assert.equal(await passed(limiter, 'a', 3), 2);
    const denied = await limiter.consume('a').catch((reason) => reason);
    assert.ok(denied.msBeforeNext > 50_000, 'blocked beyond its window');
    assert.equal(await limiter.delete('a'), true);
    await limiter.penalty('a', 1);
    assert.equal(await passed(limiter, 'a', 5), 1);
    await limiter.delete('a');
    await limiter.consume('a', 2);
    await limiter.reward('a', 1);
    assert.equal((await limiter.get('a')).consumedPoints, 1);
    await limiter.block('b', 30);
    assert.equal(await passed(limiter, 'b', 1), 0);
    await limiter.set('c', 100, 0);
    assert.equal((await limiter.get('c')).msBeforeNext, -1);
  }
}

async function combined() {
  const settings = { points: 2, duration: 1 };
  const [perSecond] = both({ keyPrefix: 'second', ...settings });
  const [burst] = both({ keyPrefix: 'burst', points: 3, duration: 5 });
  const bursty = new BurstyRateLimiter(perSecond, burst);
  assert.equal(await passed(bursty, 'a', 10), 5);
  const [one, two] = both({ keyPrefix: 'union', ...settings });
  const union = new RateLimiterUnion(one, two);
  await union.consume('a');
  await union.consume('a');
  await assert.rejects(async () => {
    const outcome = await union.consume('a').catch((reason) => reason);
    throw Object.values(outcome)[0];
  }, RateLimiterRes);
  // Ones that have to wait do, in their order.
  const [limiter] = both({ keyPrefix: 'queue', points: 2, duration: 1 });
  const queue = new RateLimiterQueue(limiter);
  const begun = Date.now();
  await Promise.all(Array.from({ length: 5 }, () => queue.removeTokens(1, 'a')));
  assert.ok(Date.now() - begun >= 1_000, `${Date.now() - begun} ms`);
}

async function insured() {
  const lost = new Redis({ ...options, enableOfflineQueue: false });
  await new Promise((resolve) => lost.once('ready', resolve));
  const insuranceLimiter = new RateLimiterMemory({ points: 1, duration: 60 });
  const limiter = new RateLimiterRedis({ storeClient: lost, keyPrefix: 'insured', points: 5, duration: 60, insuranceLimiter });
  assert.equal((await limiter.consume('a')).remainingPoints, 4);
  lost.disconnect();
  assert.equal((await limiter.consume('a')).remainingPoints, 0, 'by memory');
}

await run('rate-limiter-flexible', [windows, blocks, combined, insured]);
