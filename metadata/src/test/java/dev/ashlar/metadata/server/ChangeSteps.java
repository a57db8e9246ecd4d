package dev.ashlar.metadata.server;

import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;

/**
 * The steps of a change of the group's peers: each message that tells one of them of it, before it
 * arrives and before its answer does. At one of them it holds all messages of that kind.
 */
final class ChangeSteps implements CallTap {
  private static final long STOP_MAX_MS = 1_000;

  private final String stopAt;
  private final Set<String> passed = new LinkedHashSet<>();
  private Map<Endpoint, String> roles = Map.of();
  private int sizeAfter;
  private boolean isStopped;
  private boolean isReleased;

  /**
   * @param stopAt a step; empty: none
   */
  ChangeSteps(String stopAt) {
    this.stopAt = stopAt;
  }

  /**
   * From now on steps count.
   *
   * @param names of the peers
   * @param size of the group after the change
   */
  synchronized void begin(Map<Endpoint, String> names, int size) {
    roles = Map.copyOf(names);
    sizeAfter = size;
  }

  /** Those that were passed, in their order. */
  synchronized List<String> passed() {
    return List.copyOf(passed);
  }

  /** Returns whether the step is reached within a second from now. */
  synchronized boolean awaitStop() throws InterruptedException {
    long end = System.currentTimeMillis() + STOP_MAX_MS;
    while (!isStopped && System.currentTimeMillis() < end) {
      wait(100);
    }
    return isStopped;
  }

  /** What was held goes on. */
  synchronized void release() {
    isReleased = true;
    notifyAll();
  }

  @Override
  public CallAnswer pass(Endpoint to, Method method, byte[] body, Call call)
      throws CallException, InterruptedException {
    List<String> news = news(to, method, body);
    for (String each : news) {
      reach(each + " is sent");
    }
    CallAnswer answer = call.make();
    for (String each : news) {
      reach(each + " is answered");
    }
    if (method == Method.STANDING && isMember(answer)) {
      reach(role(to), "says that it is a member");
    }
    return answer;
  }

  private synchronized String role(Endpoint of) {
    return roles.getOrDefault(of, "");
  }

  private void reach(String role, String what) throws InterruptedException {
    if (role.startsWith("new")) {
      reach(role + " " + what);
    }
  }

  private synchronized void reach(String step) throws InterruptedException {
    if (isReleased) {
      return;
    }
    passed.add(step);
    if (step.equals(stopAt)) {
      isStopped = true;
      notifyAll();
    }
    while (isStopped && !isReleased) {
      wait();
    }
  }

  private List<String> news(Endpoint to, Method method, byte[] body) {
    String role = role(to);
    if (role.isEmpty()) {
      return List.of();
    }
    return switch (method) {
      case APPEND -> appended(role, body);
      case INSTALL -> List.of("checkpoint to " + role);
      default -> List.of();
    };
  }

  private List<String> appended(String role, byte[] body) {
    try {
      AppendEntriesRequestProto request = AppendEntriesRequestProto.parseFrom(body);
      List<String> news = new ArrayList<>();
      if (request.getInitializing() && request.getEntriesCount() > 0) {
        news.add("log to " + role);
      }
      for (LogEntryProto entry : request.getEntriesList()) {
        if (entry.hasConfigurationEntry()) {
          addChange(role, entry, news);
        }
      }
      return news;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void addChange(String role, LogEntryProto entry, List<String> news) {
    if (entry.getConfigurationEntry().getOldPeersCount() > 0) {
      news.add("both groups to " + role);
    } else if (entry.getConfigurationEntry().getPeersCount() == sizeAfter) {
      news.add("group after to " + role);
    }
  }

  private static boolean isMember(CallAnswer answer) {
    try {
      return answer.outcome() == Outcome.DONE
          && PeerStanding.parseFrom(answer.body()).getState() == PeerStanding.State.MEMBER;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
