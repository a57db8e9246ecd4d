package dev.ashlar.bench.process;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class ServerProcessTest {
  /** Two benchmarks at once had a connection of one on the port of the other's server. */
  @Test
  void noOutgoingConnectionGetsAServersPort() throws IOException {
    int port = ServerProcess.freePort();
    assertNotEquals(port, ServerProcess.freePort());
    try (ServerSocket listening = new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
        ServerSocket chosenByLinux = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertTrue(listening.isBound());
      assertTrue(port < 32_768 && chosenByLinux.getLocalPort() >= 32_768);
    }
  }
}
