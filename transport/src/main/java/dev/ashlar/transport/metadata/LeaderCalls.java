package dev.ashlar.transport.metadata;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.LeaderHint;
import dev.ashlar.protocol.wire.Exchange.Method;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls whichever peer leads: the one that led last, the one that others name, or each in turn. A
 * call that got no answer is made again, the same bytes: a command among them is recognised by its
 * session and request number.
 */
final class LeaderCalls implements AutoCloseable {
  /** Of one try: a leader may be there and be cut off from those who follow another. */
  private static final long TRY_NANOS_MAX = Duration.ofSeconds(3).toNanos();

  private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

  private final List<CallClient> peers;
  private final long timeoutNanos;
  private volatile int leader;
  private volatile boolean isClosed;

  LeaderCalls(RemoteMetadataConfig config, EventLoops loops) {
    SecureRandom random = new SecureRandom();
    peers =
        config.peers().stream()
            .map(peer -> new CallClient(peer, config.calls(), loops, random))
            .toList();
    timeoutNanos = config.timeout().toNanos();
  }

  /** How one call has gone so far. */
  private static final class Progress {
    private final long endNanos;

    /** Whether any try may have had an effect. */
    private boolean isUncertain;

    private String last = "no metadata peer is connected";

    Progress(long endNanos) {
      this.endNanos = endNanos;
    }

    long leftNanos() {
      return endNanos - System.nanoTime();
    }

    MetadataUnavailableException end() {
      String message = "metadata did not answer in time: " + last;
      return isUncertain
          ? MetadataUnavailableException.unknown(message, new CallException(last, true))
          : MetadataUnavailableException.refused(message);
    }
  }

  /** The answer of the leader. Interruption does not end it; time does. */
  byte[] call(Method method, byte[] body) throws MetadataUnavailableException {
    if (body.length > Wire.CALL_BYTES_MAX) {
      throw MetadataUnavailableException.refused("a call of " + body.length + " bytes");
    }
    Progress progress = new Progress(System.nanoTime() + timeoutNanos);
    boolean isInterrupted = false;
    try {
      while (!isClosed && progress.leftNanos() > 0) {
        try {
          CallAnswer answer = tryOnce(method, body, progress);
          if (answer != null) {
            return answer.body();
          }
          LockSupport.parkNanos(PAUSE_NANOS);
        } catch (InterruptedException e) {
          isInterrupted = true;
          progress.isUncertain = true;
        }
      }
      throw progress.end();
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Null: try again. */
  private @Nullable CallAnswer tryOnce(Method method, byte[] body, Progress progress)
      throws MetadataUnavailableException, InterruptedException {
    int asked = leader;
    CallClient peer = peers.get(asked);
    if (!peer.isConnected()) {
      HandshakeException refusal = refusal();
      if (refusal != null) {
        progress.last = String.valueOf(refusal.getMessage());
        throw progress.end();
      }
      pass(asked);
      return null;
    }
    CallAnswer answer;
    try {
      long nanos = Math.min(TRY_NANOS_MAX, progress.leftNanos());
      answer = peer.call(method, body, Duration.ofNanos(Math.max(1, nanos)));
    } catch (CallException e) {
      progress.isUncertain |= e.isSent();
      progress.last = String.valueOf(e.getMessage());
      pass(asked);
      return null;
    }
    switch (answer.outcome()) {
      case DONE -> {
        return answer;
      }
      case NOT_LEADER -> {
        progress.last = peer + " is not the leader";
        follow(asked, answer);
      }
      case REFUSED -> {
        progress.last = peer + ": " + answer.text();
        pass(asked);
      }
      case UNKNOWN -> {
        progress.isUncertain = true;
        progress.last = peer + ": " + answer.text();
        pass(asked);
      }
      case OVERLOADED, FAILED -> {
        if (!progress.isUncertain) {
          throw MetadataUnavailableException.refused(peer + ": " + answer.text());
        }
        progress.last = peer + ": " + answer.text();
        throw progress.end();
      }
    }
    return null;
  }

  /** Why most of the peers do not speak to this process, which waiting does not change; or null. */
  @Nullable HandshakeException refusal() {
    int refusals = 0;
    HandshakeException last = null;
    for (CallClient peer : peers) {
      if (!peer.isConnected()
          && peer.status().failure() instanceof HandshakeException why
          && why.fault() != HandshakeFault.BUSY) {
        refusals++;
        last = why;
      }
    }
    return refusals > peers.size() / 2 ? last : null;
  }

  /** The next one is to be asked, unless somebody has found a leader meanwhile. */
  private void pass(int asked) {
    if (leader == asked) {
      leader = (asked + 1) % peers.size();
    }
  }

  private void follow(int asked, CallAnswer answer) {
    String address;
    try {
      address = LeaderHint.parseFrom(answer.body()).getAddress();
    } catch (InvalidProtocolBufferException e) {
      address = "";
    }
    for (int i = 0; i < peers.size(); i++) {
      if (peers.get(i).peer().toString().equals(address)) {
        leader = i;
        return;
      }
    }
    pass(asked);
  }

  @Override
  public void close() {
    isClosed = true;
    peers.forEach(CallClient::close);
  }
}
