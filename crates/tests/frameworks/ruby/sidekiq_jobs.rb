# Sidekiq with its own process: results, retries, dead jobs, delays, batches of arguments, weights of queues, jobs that
# a killed process leaves.
#
# BASALT_URL is redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT, BASALT_CA a file with the authority that a server
# with TLS is known by. The file is both the program and, with SIDEKIQ_PROCESS set, what Sidekiq's process loads.

require 'redis'
require 'sidekiq'
require 'sidekiq/api'
require 'tmpdir'

# Sidekiq asks in a way that its client is going to drop.
Redis.silence_deprecations = true

PATIENCE = 120
CONNECTION = { url: "#{ENV.fetch('BASALT_URL')}/0" }
CONNECTION[:ssl_params] = { ca_file: ENV['BASALT_CA'] } if ENV['BASALT_CA']

# What is scheduled is looked at every second, not every fifteen.
Sidekiq.configure_server do |config|
  config.redis = CONNECTION
  config.options[:average_scheduled_poll_interval] = 1
  config.options[:poll_interval_average] = 1
end
Sidekiq.configure_client { |config| config.redis = CONNECTION }

class Add
  include Sidekiq::Worker

  def perform(key, number)
    Sidekiq.redis { |redis| redis.incrby(key, number) }
  end
end

class Note
  include Sidekiq::Worker
  sidekiq_options queue: 'urgent'

  def perform(key, value)
    Sidekiq.redis { |redis| redis.rpush(key, "#{value}@#{Time.now.to_f}") }
  end
end

class Flaky
  include Sidekiq::Worker
  sidekiq_options retry: 3
  sidekiq_retry_in { 1 }
  sidekiq_retries_exhausted { |job, _error| Sidekiq.redis { |redis| redis.set("exhausted:#{job['args'][0]}", job['retry_count']) } }

  def perform(key, failures)
    tries = Sidekiq.redis { |redis| redis.incr(key) }
    raise ArgumentError, "try #{tries}" if tries <= failures
  end
end

class Long
  include Sidekiq::Worker

  def perform(key)
    Sidekiq.redis { |redis| redis.incr(key) }
    sleep 600 if Sidekiq.redis { |redis| redis.get(key) } == '1'
  end
end

return if ENV['SIDEKIQ_PROCESS']

def equal(actual, expected)
  raise "expected #{expected.inspect}, got #{actual.inspect}" unless actual == expected
end

def til(what)
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
  until yield
    raise "did not happen in time: #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    sleep 0.01
  end
end

def redis(&block)
  Sidekiq.redis(&block)
end

def start
  arguments = ['-r', File.expand_path(__FILE__), '-c', '4', '-t', '1', '-q', 'urgent,3', '-q', 'default,1']
  spawn({ 'SIDEKIQ_PROCESS' => '1' }, 'sidekiq', *arguments, out: File::NULL, err: File::NULL, chdir: Dir.tmpdir)
end

def stop(process)
  Process.kill('TERM', process)
  Process.wait(process)
rescue Errno::ESRCH
  # It has ended before.
end

def results
  100.times { |number| Add.perform_async('sum', number) }
  til('all are done') { redis { |r| r.get('sum') } == '4950' }
  Add.perform_bulk((1..1000).map { |number| ['bulk', number] })
  til('all of the bulk are done') { redis { |r| r.get('bulk') } == '500500' }
  til('they are counted') { Sidekiq::Stats.new.processed == 1100 }
  equal(Sidekiq::Stats.new.enqueued, 0)
  equal(Sidekiq::Queue.all.map(&:name).sort, %w[default])
end

def retries
  Flaky.perform_async('tries', 2)
  # Asked for, which does not count.
  til('the third try') { Sidekiq::RetrySet.new.retry_all; redis { |r| r.get('tries') } == '3' }
  Flaky.set(retry: 1).perform_async('hopeless', 100)
  # By itself, within ten seconds or so.
  til('it is given up') { Sidekiq::DeadSet.new.size == 1 }
  equal(redis { |r| r.get('hopeless') }, '2')
  equal(redis { |r| r.get('exhausted:hopeless') }, '1')
  dead = Sidekiq::DeadSet.new.first
  equal([dead.klass, dead['error_message']], ['Flaky', 'try 2'])
  equal(Sidekiq::RetrySet.new.size, 0)
  redis { |r| r.set('hopeless', 1_000) }
  dead.retry
  til('it has been done after all') { redis { |r| r.get('hopeless') } == '1001' }
  equal(Sidekiq::DeadSet.new.size, 0)
end

def delays
  begun = Time.now.to_f
  Note.perform_in(2, 'late', 'a')
  never = Note.perform_at(Time.now + 3600, 'never', 'a')
  equal(Sidekiq::ScheduledSet.new.size, 2)
  Note.perform_async('at once', 'a')
  til('it is done at once') { redis { |r| r.llen('at once') } == 1 }
  til('it is done late') { redis { |r| r.llen('late') } == 1 }
  stamp = redis { |r| r.lindex('late', 0) }.split('@')[1].to_f
  raise "after #{stamp - begun} s" if stamp - begun < 2
  equal(Sidekiq::ScheduledSet.new.find_job(never).args, ['never', 'a'])
  equal(Sidekiq::ScheduledSet.new.find_job(never).delete, true)
  equal(Sidekiq::ScheduledSet.new.size, 0)
end

def processes
  til('it tells of itself') { Sidekiq::ProcessSet.new.size == 1 }
  process = Sidekiq::ProcessSet.new.first
  equal([process['concurrency'], process['queues'].uniq.sort], [4, %w[default urgent]])
  Sidekiq::Queue.new('default').each { |job| raise "left: #{job.klass}" }
end

# A process that is told to end puts back what it has not done. First it has to take nothing more: a thread of it that
# still waits for jobs, two seconds at most, would take it again and drop it.
def handed_back(process)
  Long.perform_async('long')
  til('it has begun') { redis { |r| r.get('long') } == '1' }
  Process.kill('TSTP', process)
  sleep 3
  stop(process)
  equal(Sidekiq::Queue.new('default').map(&:klass), ['Long'])
  another = start
  til('another has done it') { redis { |r| r.get('long') } == '2' && Sidekiq::Queue.new('default').size.zero? }
  another
end

redis(&:flushdb)
process = start
begin
  %i[results retries delays processes].each do |part|
    begun = Time.now
    send(part)
    puts "sidekiq: #{part} #{(Time.now - begun).round(2)} s"
  end
  process = handed_back(process)
ensure
  stop(process)
end
til('it is gone') { Sidekiq::ProcessSet.new.size.zero? }
puts 'sidekiq: ok'
