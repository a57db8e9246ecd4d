package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.client.RemoteShardStore;
import dev.ashlar.transport.tls.ClusterTls;
import dev.ashlar.transport.tls.TestAuthority;
import java.nio.file.Path;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With certificates on both sides the same is served, and to nobody without them. */
class TlsTest {
  private final SlabPool serverSlabs = new SlabPool();
  private final MemoryShardStore drive =
      new MemoryShardStore(new DriveId(new UUID(1, 2), 1), serverSlabs);

  @Test
  void bothSidesNeedACertificateThatTheOtherTrusts(@TempDir Path folder) throws Exception {
    TestAuthority authority = new TestAuthority(folder.resolve("ours"), "authority");
    TestAuthority another = new TestAuthority(folder.resolve("theirs"), "another authority");
    Loopback.Setup setup =
        new Loopback.Setup(
            ShardServerConfig.Limits.DEFAULT, Loopback.TIMES, authority.tls("storage-1"));
    ClusterTls gateway = authority.tls("gateway-1");
    try (Loopback loopback = new Loopback(Transport.preferred(), setup, serverSlabs, drive)) {
      RemoteNode known = loopback.connect(client(loopback, gateway), new SlabPool());
      writeAndRead(loopback.store(known, 0));
      refused(loopback, another.tls("gateway-1"));
      refused(loopback, null);
      writeAndRead(loopback.store(known, 0));
    }
  }

  private static NodeConfig client(Loopback loopback, @Nullable ClusterTls tls) {
    return loopback.clientConfig(
        loopback.port(), Loopback.CLIENT_TIMES, NodeConfig.Limits.DEFAULT, tls);
  }

  private static void refused(Loopback loopback, @Nullable ClusterTls tls) throws Exception {
    RemoteNode node = loopback.start(client(loopback, tls), new SlabPool());
    Loopback.await("refused", () -> node.status().failure() != null);
    assertFalse(node.status().isConnected());
    assertEquals(0, node.status().connections());
    assertEquals(ShardFault.UNAVAILABLE, loopback.store(node, 0).writeRefusal());
    node.close();
  }

  private static void writeAndRead(RemoteShardStore store) throws Exception {
    Random random = new Random();
    for (int length : new int[] {1, 4096, 100_000, 3_000_000}) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      ShardId shard = new ShardId(new BlobId(7, random.nextLong()), 0);
      Answer<DriveId> written = new Answer<>();
      store.write(AbstractShardStoreContract.shardWrite(shard, 0, bytes), written);
      written.await();
      Answer<ShardData> read = new Answer<>();
      store.read(shard, ShardView.ORIGINAL, 0, length, read);
      assertArrayEquals(bytes, AbstractShardStoreContract.bytesOf(read.await()));
    }
  }
}
