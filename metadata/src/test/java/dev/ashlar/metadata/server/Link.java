package dev.ashlar.metadata.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/** The network from one process to another, which can be interrupted without anybody being told. */
final class Link implements AutoCloseable {
  private static final int BUFFER = 64 << 10;

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final IntSupplier target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean isCut;

  Link(IntSupplier target) throws IOException {
    this.target = target;
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** From now on nothing passes; connections stay, and new ones are made and stay silent. */
  void cut() {
    isCut = true;
  }

  /** What was lost stays lost: connections end, new ones pass. */
  void heal() {
    isCut = false;
    end();
  }

  /** Ends all connections. */
  void end() {
    sockets.forEach(Link::close);
    sockets.clear();
  }

  private void accept() {
    while (!listener.isClosed()) {
      acceptOne();
    }
  }

  private void acceptOne() {
    try {
      Socket client = listener.accept();
      sockets.add(client);
      try {
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target.getAsInt());
        sockets.add(server);
        Thread.ofVirtual().start(() -> pass(client, server));
        Thread.ofVirtual().start(() -> pass(server, client));
      } catch (IOException e) {
        close(client); // nobody listens there now
      }
    } catch (IOException e) {
      end(); // closed
    }
  }

  private void pass(Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = from.getInputStream()) {
      OutputStream out = to.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        if (!isCut) {
          out.write(buffer, 0, count);
        }
      }
      close(to);
    } catch (IOException e) {
      close(from);
      close(to);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    end();
  }
}
