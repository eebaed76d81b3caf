package org.openapitools.jackson.nullable;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.module.SimpleDeserializers;
import com.fasterxml.jackson.databind.module.SimpleSerializers;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Teaches Jackson to omit an absent value, and to write and read null as null. */
public final class JsonNullableModule extends Module {
    @Override
    public String getModuleName() {
        return "JsonNullableModule";
    }

    @Override
    public Version version() {
        return Version.unknownVersion();
    }

    @Override
    public void setupModule(SetupContext context) {
        context.configOverride(JsonNullable.class)
                .setInclude(JsonInclude.Value.construct(JsonInclude.Include.NON_EMPTY, JsonInclude.Include.ALWAYS));
        context.addSerializers(new SimpleSerializers(List.of(new Writer())));
        context.addDeserializers(new SimpleDeserializers(Map.of(JsonNullable.class, new Reader(null))));
    }

    @SuppressWarnings("rawtypes")
    private static final class Writer extends JsonSerializer<JsonNullable> {
        @Override
        public Class<JsonNullable> handledType() {
            return JsonNullable.class;
        }

        @Override
        public boolean isEmpty(SerializerProvider provider, JsonNullable value) {
            return !value.isPresent();
        }

        @Override
        public void serialize(JsonNullable value, JsonGenerator out, SerializerProvider provider) throws IOException {
            provider.defaultSerializeValue(value.get(), out);
        }
    }

    private static final class Reader extends JsonDeserializer<JsonNullable<?>> implements ContextualDeserializer {
        private final JavaType type;

        Reader(JavaType type) {
            this.type = type;
        }

        @Override
        public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
            return new Reader(context.getContextualType().containedType(0));
        }

        @Override
        public JsonNullable<?> deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return JsonNullable.of(context.<Object>readValue(parser, type));
        }

        @Override
        public JsonNullable<?> getNullValue(DeserializationContext context) {
            return JsonNullable.of(null);
        }
    }
}
