package dev.ashlar.server.port;

import dev.ashlar.server.admin.RunningServer;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.transport.tls.PortTls;
import io.micronaut.context.BeanProvider;
import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.micronaut.http.server.netty.configuration.NettyHttpServerConfiguration;
import io.micronaut.http.server.netty.configuration.NettyHttpServerConfiguration.NettyListenerConfiguration;
import io.netty.channel.Channel;
import jakarta.inject.Singleton;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;

/** Where the management port listens, with TLS or without. */
final class ManagementPort {
  private ManagementPort() {}

  /** Names the addresses. */
  @Singleton
  static final class Addresses implements BeanCreatedEventListener<NettyHttpServerConfiguration> {
    private final ServerOptions options;

    Addresses(ServerOptions options) {
      this.options = options;
    }

    @Override
    public NettyHttpServerConfiguration onCreated(
        BeanCreatedEvent<NettyHttpServerConfiguration> event) {
      List<NettyListenerConfiguration> listeners = new ArrayList<>();
      for (PortAddress each : options.service().managementListen()) {
        NettyListenerConfiguration listener = new NettyListenerConfiguration(each.toString());
        listener.setHost(each.endpoint().host());
        listener.setPort(each.endpoint().port());
        listeners.add(listener);
      }
      event.getBean().setListeners(listeners);
      return event.getBean();
    }
  }

  /** Puts TLS in front of the connections of the addresses that use it. */
  @Singleton
  static final class Security implements BeanCreatedEventListener<NettyServerCustomizer.Registry> {
    private final ServerOptions options;
    private final BeanProvider<RunningServer> server;

    Security(ServerOptions options, BeanProvider<RunningServer> server) {
      this.options = options;
      this.server = server;
    }

    @Override
    public NettyServerCustomizer.Registry onCreated(
        BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
      event.getBean().register(new OfServer());
      return event.getBean();
    }

    /** The listeners are opened in the order of their addresses. */
    private final class OfServer implements NettyServerCustomizer {
      private final Queue<PortAddress> unopened =
          new ArrayDeque<>(options.service().managementListen());

      @Override
      public NettyServerCustomizer specializeForChannel(Channel channel, ChannelRole role) {
        return unopened.remove().isTls()
            ? new OfListener(Objects.requireNonNull(server.get().tls()))
            : new NettyServerCustomizer() {};
      }
    }
  }

  private record OfListener(PortTls tls) implements NettyServerCustomizer {
    @Override
    public NettyServerCustomizer specializeForChannel(Channel channel, ChannelRole role) {
      return new OfConnection(tls, channel);
    }
  }

  private record OfConnection(PortTls tls, Channel channel) implements NettyServerCustomizer {
    @Override
    public void onInitialPipelineBuilt() {
      tls.secure(channel.pipeline());
    }
  }
}
