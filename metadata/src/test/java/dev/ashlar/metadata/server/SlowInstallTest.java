package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** While a checkpoint is sent to a follower, the leader takes several others. */
@Tag("slow")
@Timeout(120)
class SlowInstallTest {
  private static final Duration PART = Duration.ofMillis(500);

  @TempDir Path root = Path.of("");

  @Test
  void theFollowerGetsItAndTheLogBehindIt() throws Exception {
    AtomicInteger parts = new AtomicInteger();
    CallTap slow =
        (to, method, body, call) -> {
          if (method == Method.INSTALL) {
            parts.incrementAndGet();
            Thread.sleep(PART);
          }
          return call.make();
        };
    try (LoopbackGroup group =
            new LoopbackGroup(root, 3, PurgedLog.SHORT_LIMITS, LoopbackGroup.ELECTIONS, slow)
                .startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "first");
      int leader = group.awaitLeader();
      int away = (leader + 1) % 3;
      group.awaitMember(away, 0);
      group.kill(away);
      PurgedLog.SHORT.fill(client);
      PurgedLog.SHORT.await(group, leader);
      PurgedLog.SHORT.await(group, (leader + 2) % 3);
      parts.set(0);
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(100);
      group.start(away);
      group.awaitMember(away, group.peer(group.awaitLeader()).status().appliedIndex());
      Set<String> acknowledged = load.end();
      assertTrue(parts.get() > 0, "it got the log alone");
      group.kill(group.awaitLeader());
      assertTrue(names(client).containsAll(acknowledged));
    }
  }
}
