package dev.ashlar.transport;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;

/** The kernel interface of the event loops. There is no silent fallback to another one. */
public enum Transport {
  EPOLL,
  IO_URING,
  NIO;

  /**
   * @throws IllegalStateException when this machine does not have it
   */
  public void ensureAvailable() {
    Throwable cause =
        switch (this) {
          case EPOLL -> Epoll.unavailabilityCause();
          case IO_URING -> IoUring.unavailabilityCause();
          case NIO -> null;
        };
    if (cause != null) {
      throw new IllegalStateException(
          "transport " + name() + " is not available on this machine", cause);
    }
  }

  public IoHandlerFactory ioHandlers() {
    return switch (this) {
      case EPOLL -> EpollIoHandler.newFactory();
      case IO_URING -> IoUringIoHandler.newFactory();
      case NIO -> NioIoHandler.newFactory();
    };
  }

  public Class<? extends ServerSocketChannel> serverChannel() {
    return switch (this) {
      case EPOLL -> EpollServerSocketChannel.class;
      case IO_URING -> IoUringServerSocketChannel.class;
      case NIO -> NioServerSocketChannel.class;
    };
  }

  public Class<? extends SocketChannel> channel() {
    return switch (this) {
      case EPOLL -> EpollSocketChannel.class;
      case IO_URING -> IoUringSocketChannel.class;
      case NIO -> NioSocketChannel.class;
    };
  }

  /** The fastest that this machine has: epoll on Linux, NIO elsewhere. */
  public static Transport preferred() {
    return Epoll.isAvailable() ? EPOLL : NIO;
  }
}
