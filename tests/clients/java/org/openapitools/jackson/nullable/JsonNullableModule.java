package org.openapitools.jackson.nullable;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.BeanPropertyWriter;
import com.fasterxml.jackson.databind.ser.BeanSerializerModifier;
import java.io.IOException;
import java.util.List;

/** Reads and writes {@link JsonNullable}: an absent value is left out. */
@SuppressWarnings({"rawtypes", "serial"})
public class JsonNullableModule extends SimpleModule {
    public JsonNullableModule() {
        addSerializer(JsonNullable.class, new Writer());
        addDeserializer(JsonNullable.class, new Reader(null));
        setSerializerModifier(new BeanSerializerModifier() {
            @Override
            public List<BeanPropertyWriter> changeProperties(
                    SerializationConfig config, BeanDescription bean, List<BeanPropertyWriter> properties) {
                properties.replaceAll(one -> one.getType().hasRawClass(JsonNullable.class) ? new Absent(one) : one);
                return properties;
            }
        });
    }

    private static final class Absent extends BeanPropertyWriter {
        Absent(BeanPropertyWriter property) {
            super(property);
        }

        @Override
        public void serializeAsField(Object bean, JsonGenerator out, SerializerProvider provider) throws Exception {
            if (get(bean) instanceof JsonNullable<?> value && value.isPresent()) {
                super.serializeAsField(bean, out, provider);
            }
        }
    }

    private static final class Writer extends JsonSerializer<JsonNullable> {
        @Override
        public void serialize(JsonNullable value, JsonGenerator out, SerializerProvider provider) throws IOException {
            provider.defaultSerializeValue(value.get(), out);
        }
    }

    private static final class Reader extends JsonDeserializer<JsonNullable> implements ContextualDeserializer {
        private final JavaType content;

        Reader(JavaType content) {
            this.content = content;
        }

        @Override
        public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
            return new Reader(context.getContextualType().containedType(0));
        }

        @Override
        public JsonNullable deserialize(JsonParser in, DeserializationContext context) throws IOException {
            return JsonNullable.of(context.readValue(in, content));
        }

        @Override
        public JsonNullable getNullValue(DeserializationContext context) {
            return JsonNullable.of(null);
        }
    }
}
