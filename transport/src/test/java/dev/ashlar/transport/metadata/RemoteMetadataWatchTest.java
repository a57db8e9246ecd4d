package dev.ashlar.transport.metadata;

import static java.util.Objects.requireNonNull;

import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClientConfig;
import dev.ashlar.transport.call.CallServer;
import dev.ashlar.transport.call.CallServerConfig;
import dev.ashlar.transport.call.IncomingCall;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.FramePort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client of a peer that answers what it is told to. Its contract is tested with real ones. */
@Timeout(60)
class RemoteMetadataWatchTest {
  private static final UUID DRIVE = new UUID(1, 2);
  private static final ClusterSecret SECRET =
      new ClusterSecret("a secret of a test".getBytes(StandardCharsets.UTF_8));

  private final UUID cluster = UUID.randomUUID();
  private final EventLoops loops = new EventLoops(Transport.preferred(), 2, "watch-test");

  /** What those are told one after the other who watch; then they wait. */
  private final Queue<ClusterState> states = new ConcurrentLinkedQueue<>();

  private FramePort port;
  private CallServer server;

  @BeforeEach
  void listen() throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    port = new FramePort(any, null, FrameTimes.DEFAULT, loops);
    server =
        new CallServer(
            new CallServerConfig(cluster, SECRET, CallServerConfig.Limits.DEFAULT),
            port,
            this::serve);
  }

  @AfterEach
  void close() {
    port.close();
    server.close();
    loops.close();
  }

  private void serve(IncomingCall call) {
    if (call.method() == Method.SUBMIT) {
      call.answer(CallAnswer.done(CommandResult.newBuilder().setSession(1).build().toByteArray()));
    } else if (!states.isEmpty()) {
      call.answer(CallAnswer.done(states.remove().toByteArray()));
    }
  }

  private static ClusterState.Builder state(long incarnation) {
    return ClusterState.newBuilder()
        .setVersion(incarnation)
        .addDrives(
            DriveRow.newBuilder()
                .setDriveHigh(DRIVE.getMostSignificantBits())
                .setDriveLow(DRIVE.getLeastSignificantBits())
                .setIncarnation(incarnation));
  }

  @Test
  void aMalformedAnswerDoesNotEndTheWatch() throws Exception {
    states.add(state(1).build()); // when it is opened
    states.add(state(2).addMetadataPeers("nowhere").build());
    states.add(state(3).build());
    RemoteMetadataConfig config =
        new RemoteMetadataConfig(
            List.of(new Endpoint("127.0.0.1", port.address().getPort())),
            new CallClientConfig(Role.GATEWAY, cluster, SECRET, null),
            Duration.ofSeconds(30));
    try (RemoteMetadata client = RemoteMetadata.open(config, loops)) {
      while (!requireNonNull(client.drives().get(DRIVE)).equals(new DriveId(DRIVE, 3))) {
        Thread.sleep(10);
      }
    }
  }
}
