package dev.ashlar.protocol.trace;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Keeps all spans that have ended. New traces are sampled. */
public final class RecordedSpans implements Tracer {
  private final AtomicLong ids = new AtomicLong();
  private final List<Recorded> ended = new CopyOnWriteArrayList<>();

  /** In the order in which they have ended. */
  public List<Recorded> ended() {
    return ended;
  }

  @Override
  public Span begin(String name, Kind kind, @Nullable TraceContext parent) {
    long id = ids.incrementAndGet();
    TraceContext context =
        parent == null
            ? new TraceContext(0, id, id, TraceContext.SAMPLED)
            : new TraceContext(parent.traceHigh(), parent.traceLow(), id, parent.flags());
    return context.isSampled() ? new Recorded(name, kind, context, parent) : () -> context;
  }

  /** A span and what it was told. */
  public final class Recorded implements Span {
    private String name;
    private final Kind kind;
    private final TraceContext context;
    private final @Nullable TraceContext parent;
    private final Map<String, Object> attributes = new ConcurrentHashMap<>();
    private volatile @Nullable String failure;

    private Recorded(String name, Kind kind, TraceContext context, @Nullable TraceContext parent) {
      this.name = name;
      this.kind = kind;
      this.context = context;
      this.parent = parent;
    }

    public String name() {
      return name;
    }

    public Kind kind() {
      return kind;
    }

    public @Nullable TraceContext parent() {
      return parent;
    }

    public Map<String, Object> attributes() {
      return attributes;
    }

    /** Null: it has not failed. */
    public @Nullable String failure() {
      return failure;
    }

    @Override
    public TraceContext context() {
      return context;
    }

    @Override
    public boolean isKept() {
      return true;
    }

    @Override
    public void name(String newName) {
      name = newName;
    }

    @Override
    public void add(String attribute, String value) {
      addOnce(attribute, value);
    }

    @Override
    public void add(String attribute, long value) {
      addOnce(attribute, value);
    }

    private void addOnce(String attribute, Object value) {
      if (attributes.put(attribute, value) != null) {
        throw new IllegalStateException(attribute + " is there already");
      }
    }

    @Override
    public void failed(String type) {
      failure = type;
    }

    @Override
    public void end() {
      if (ended.contains(this)) {
        throw new IllegalStateException(name + " has ended already");
      }
      ended.add(this);
    }
  }
}
