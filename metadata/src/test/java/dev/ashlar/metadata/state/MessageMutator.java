package dev.ashlar.metadata.state;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Random;

/** Changes messages at random: fields out of range, huge, empty, missing, doubled, unknown. */
final class MessageMutator {
  private static final long[] NUMBERS = {
    0,
    1,
    2,
    -1,
    -2,
    Long.MIN_VALUE,
    Long.MAX_VALUE,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    1L << 31,
    1L << 32,
    1L << 62,
    255,
    256,
    4095,
    4096,
    16384,
    65535,
    65536,
    (1L << 40) + 1
  };
  private static final int LONG_TEXT = 3000;

  private final Random random;

  MessageMutator(Random random) {
    this.random = random;
  }

  /** The message with some fields changed, or some of its bytes if it can still be read then. */
  <T extends Message> T mutate(T message) {
    if (random.nextInt(5) == 0) {
      return withOtherBytes(message);
    }
    Message.Builder builder = message.toBuilder();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      change(builder);
    }
    @SuppressWarnings("unchecked")
    T mutated = (T) builder.build();
    return mutated;
  }

  private <T extends Message> T withOtherBytes(T message) {
    byte[] bytes = message.toByteArray();
    for (int i = 1 + random.nextInt(3); i > 0 && bytes.length > 0; i--) {
      bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
    }
    try {
      @SuppressWarnings("unchecked")
      T mutated = (T) message.getParserForType().parseFrom(bytes);
      return mutated;
    } catch (InvalidProtocolBufferException e) {
      return message; // nobody gets it into a log entry
    }
  }

  private void change(Message.Builder message) {
    List<FieldDescriptor> fields = message.getDescriptorForType().getFields();
    if (fields.isEmpty()) {
      return;
    }
    List<FieldDescriptor> present = List.copyOf(message.getAllFields().keySet());
    FieldDescriptor field =
        random.nextInt(4) == 0 || present.isEmpty()
            ? fields.get(random.nextInt(fields.size()))
            : present.get(random.nextInt(present.size()));
    if (field.isRepeated()) {
      changeRepeated(message, field);
    } else if (field.getJavaType() == JavaType.MESSAGE && random.nextInt(8) != 0) {
      change(message.getFieldBuilder(field));
    } else if (random.nextInt(8) == 0) {
      message.clearField(field);
    } else {
      message.setField(field, value(message, field));
    }
  }

  private void changeRepeated(Message.Builder message, FieldDescriptor field) {
    int count = message.getRepeatedFieldCount(field);
    if (field.isMapField() || random.nextInt(12) == 0) {
      message.clearField(field);
      return;
    }
    int choice = random.nextInt(6);
    if (count == 0 || choice == 0) {
      message.addRepeatedField(field, value(message, field));
    } else if (choice == 1) {
      message.addRepeatedField(field, message.getRepeatedField(field, random.nextInt(count)));
    } else if (field.getJavaType() == JavaType.MESSAGE) {
      int i = random.nextInt(count);
      Message.Builder element = ((Message) message.getRepeatedField(field, i)).toBuilder();
      change(element);
      message.setRepeatedField(field, i, element.build());
    } else {
      message.setRepeatedField(field, random.nextInt(count), value(message, field));
    }
  }

  private Object value(Message.Builder message, FieldDescriptor field) {
    long number =
        random.nextInt(6) == 0 ? random.nextLong() : NUMBERS[random.nextInt(NUMBERS.length)];
    return switch (field.getJavaType()) {
      case LONG -> number;
      case INT -> (int) number;
      case BOOLEAN -> random.nextBoolean();
      case STRING -> text();
      case BYTE_STRING -> ByteString.copyFromUtf8(text());
      case ENUM -> field.getEnumType().findValueByNumberCreatingIfUnknown((int) number);
      case MESSAGE -> message.newBuilderForField(field).build();
      case FLOAT, DOUBLE -> throw new IllegalArgumentException(field.getFullName());
    };
  }

  private String text() {
    return switch (random.nextInt(7)) {
      case 0 -> "";
      case 1 -> "\0";
      case 2 -> "x".repeat(random.nextInt(LONG_TEXT));
      case 3 -> "\uFFFF\u00FF";
      case 4 -> "../" + random.nextInt(10);
      default -> "k" + random.nextInt(6);
    };
  }
}
