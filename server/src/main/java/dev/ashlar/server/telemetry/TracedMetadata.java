package dev.ashlar.server.telemetry;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Metadata whose reads and commits for traced requests have spans: the same for every method. */
final class TracedMetadata implements InvocationHandler {
  /** Answered from memory. */
  private static final Set<String> KNOWN = Set.of("session", "placement", "drives");

  private final MetadataClient client;
  private final Tracer tracer;
  private final Tracer.Kind kind;

  private TracedMetadata(MetadataClient client, Tracer tracer, Tracer.Kind kind) {
    this.client = client;
    this.tracer = tracer;
    this.kind = kind;
  }

  static MetadataClient of(MetadataClient client, Tracer tracer, Tracer.Kind kind) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            MetadataClient.class.getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            new TracedMetadata(client, tracer, kind));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    if (KNOWN.contains(method.getName()) || method.getDeclaringClass() == Object.class) {
      return call(method, given);
    }
    TraceContext parent = CurrentSpan.parent();
    if (parent == null) {
      return call(method, given);
    }
    Span span = begin(method, given, parent);
    Span before = CurrentSpan.set(span);
    try {
      return call(method, given);
    } catch (Throwable failure) {
      span.failed(failure.getClass().getSimpleName());
      throw failure;
    } finally {
      CurrentSpan.set(before);
      span.end();
    }
  }

  private Span begin(Method method, @Nullable Object @Nullable [] given, TraceContext parent) {
    if (given != null && given.length == 1 && given[0] instanceof Command.Builder command) {
      Span span = tracer.begin("metadata commit", kind, parent);
      span.add("ashlar.command", command.getKindCase().name().toLowerCase(Locale.ROOT));
      return span;
    }
    Span span = tracer.begin("metadata read", kind, parent);
    span.add("ashlar.query", method.getName());
    return span;
  }

  private @Nullable Object call(Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    try {
      return method.invoke(client, given);
    } catch (InvocationTargetException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }
}
